"""`interp source MODEL MODULE`: a module's forward, with the label of each operation beside its line."""

from __future__ import annotations

import re
from argparse import Namespace

from torch import nn

from interp_components.cli.answers import Answer, Cell, CommandError, Table
from interp_components.cli.models import opened
from interp_components.envoys import Envoy
from interp_components.model import StandardizedTransformer
from interp_components.sources import margin


def answer(asked: Namespace) -> Answer:
    """The operations of the module that is asked for."""
    model = opened(asked)  # kept in a name: an envoy does not keep its model
    envoy = _module(model, asked.module)
    labelled = envoy.source.labelled
    rows = [
        (Cell(label, "label"), Cell("" if number is None else str(number), "faint"), Cell(text))
        for label, number, text in margin.rows(labelled)
    ]
    facts = {
        "module": envoy.path,
        "class": type(envoy._module).__name__,
        "function": labelled.qualname,
        "file": labelled.filename,
        "first_line": labelled.first_line,
        "lines": [line.rstrip() for line in labelled.lines],
        "operations": [
            {"name": each.name, "kind": each.kind.name.lower(), "line": each.line} for each in labelled.operations
        ],
    }
    title = f"{asked.model}: {envoy.path}.source, {margin.place(labelled)}"
    return Answer(title, facts, [Table(rows, numbers=frozenset({1}))])


def _module(model: StandardizedTransformer, path: str) -> Envoy:
    """The module at a path: `layers.0.mlp`, `layers[0].mlp`, or with the root in front, `model.transformer.h.0`.

    Raises:
        CommandError: There is none.
    """
    dotted = re.sub(r"\[(\d+)\]", r".\1", path).strip(".")
    if dotted in {"", model.path}:
        return model
    found = _get(model, dotted)
    if isinstance(found, AttributeError):  # in this order: the module below a root called `model` may be called so, too
        found = _get(model, dotted.removeprefix(f"{model.path}."))
    if isinstance(found, AttributeError):
        raise CommandError(f"{found}. `interp tree` lists the modules") from found
    if not isinstance(found, Envoy):
        raise CommandError(f"{path!r} is a {type(found).__name__}, and no module")
    kind = type(found._module)
    if kind.forward is nn.Module.forward:
        raise CommandError(f"{path!r} is a {kind.__name__}, which has no forward: name a module in it, as '{path}.0'")
    return found


def _get(model: StandardizedTransformer, path: str) -> object:
    """What is at the path, or why there is nothing."""
    try:
        return model.get(path)
    except AttributeError as error:
        return error

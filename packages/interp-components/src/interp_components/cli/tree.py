"""`interp tree MODEL`: the modules of a model under all their names, with the values of each."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from interp_components import layouts
from interp_components.cli.answers import Answer, Block, Cell, Table
from interp_components.cli.models import OPTION, needs_option, opened
from interp_components.envoys import Envoy, values_of
from interp_components.envoys.listing import mounts, runs
from interp_components.model import StandardizedTransformer
from interp_components.properties import EProperty

_SIZES = ("num_layers", "hidden_size", "num_heads", "num_kv_heads", "head_dim", "intermediate_size", "vocab_size")


class Row(NamedTuple):
    """A line of the tree: a module, another name for one, or a value."""

    depth: int
    kind: Literal["module", "alias", "value"]
    name: str
    what: str
    reason: str | None = None
    description: str = ""


def answer(asked: Namespace) -> Answer:
    """The tree of the model that is asked for, whose weights are not loaded."""
    model = opened(asked)
    kind, family = type(model._module).__name__, str(getattr(model.family, "__name__", "?")).rpartition(".")[2]
    weights = sum(weight.numel() for weight in model._module.parameters())
    sizes = {name: _size(model, name) for name in _SIZES}
    said = ", ".join(f"{name} {size}" for name, size in sizes.items() if size is not None)
    title = f"{asked.model}: {kind} as {family}, {model.attn_implementation} attention, {weights:,} parameters; {said}"
    facts = {
        "class": kind,
        "family": family,
        "attention": model.attn_implementation,
        "parameters": weights,
        "sizes": sizes,
        "modules": [_module(path, envoy) for path, envoy in model.named_modules()],
    }
    return Answer(title, facts, list(_blocks([Row(0, "module", model.path, kind), *_rows(model)])))


def _size(model: StandardizedTransformer, name: str) -> int | None:
    try:
        return int(getattr(model, name))
    except (AttributeError, NotImplementedError):  # an architecture whose config has no such number
        return None


def _module(path: str, envoy: Envoy) -> dict[str, Any]:
    """A module for programs."""
    aliases, module = envoy._tree.aliases, envoy._module
    return {
        "path": path,
        "names": [*(name for _, name in aliases.mounts(module)), *aliases.of(module)],
        "class": type(module).__name__,
        "values": [
            {
                "name": value.name,
                "layout": _layout(value),
                "dims": list(value.dims),
                "description": value.description,
                "reason": value.reason(envoy),
            }
            for value in _values(envoy)
        ],
    }


def _values(envoy: Envoy) -> Iterator[EProperty[Any]]:
    return (value for value in values_of(type(envoy)).values() if value.description)


def _layout(value: EProperty[Any]) -> str | None:
    return None if value.layout is None else layouts.layout_name(value.layout)


def _rows(envoy: Envoy) -> list[Row]:
    """What is below an envoy; equal neighbours are one."""
    rows = [Row(1, "alias", name, path) for name, path in mounts(envoy)]
    for value in _values(envoy):
        dims = f" [{' '.join(value.dims)}]" if value.dims else ""
        described = value.description or ""
        rows.append(Row(1, "value", value.name, f"{_layout(value) or ''}{dims}", _reason(value, envoy), described))
    for label, count, (head, *below) in runs(envoy, _branch):
        what = head.what if count == 1 else f"{count} x {head.what}"
        rows += [head._replace(name=label, what=what), *below]
    return rows


def _reason(value: EProperty[Any], envoy: Envoy) -> str | None:
    """Why a value is not there, without the number of the layer, so that what all layers lack is said once."""
    reason = value.reason(envoy)
    return None if reason is None else re.sub(r"(?<=\.)\d+(?=\.)", "*", reason)


def _branch(envoy: Envoy) -> list[Row]:
    """An envoy, still without the name that its parent has for it, and what is below it."""
    head = Row(0, "module", "", type(envoy._module).__name__, description=envoy._module.extra_repr())
    return [row._replace(depth=row.depth + 1) for row in (head, *_rows(envoy))]


def _blocks(rows: list[Row]) -> Iterator[Block]:
    """The table, and below it why values are not there: a reason is often that of many."""
    reasons = list(dict.fromkeys(row.reason for row in rows if row.reason is not None))
    yield Table([_cells(row, reasons) for row in rows], ("name", "what", "there"))
    if reasons:
        yield "\n".join(f"[{number}] {reason}" for number, reason in enumerate(reasons, 1))
    if any(needs_option(reason) for reason in reasons):
        yield OPTION


def _cells(row: Row, reasons: list[str]) -> tuple[Cell, Cell, Cell]:
    indent = "  " * row.depth
    if row.kind == "module":
        return Cell(indent + row.name, "label"), Cell(row.what, more=row.description), Cell("")
    if row.kind == "alias":
        return Cell(indent + row.name, "label"), Cell(f"= {row.what}", "faint"), Cell("")
    name, layout = Cell(f"{indent}.{row.name}", more=row.description), Cell(row.what, "faint", more=row.description)
    if row.reason is None:
        return name, layout, Cell("yes", "good")
    return name, layout, Cell(f"no [{reasons.index(row.reason) + 1}]", "bad", more=row.reason)

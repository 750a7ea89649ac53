"""Several invokes, one batch: `with tracer.invoke(a): ...` and `with tracer.invoke(b): ...`.

`join` puts what was made ready for each invoke under one another. Rows are padded to the longest, each argument with what
means nothing to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from interp_components.errors import BatchError
from interp_components.interleaving.keyvalues import is_cache
from interp_components.model.inputs import Arguments, Prepared
from interp_components.model.rows import Padding, positions, widen

_FILLED: Final = {"attention_mask": 0, "token_type_ids": 0, "position_ids": 0, "labels": -100, "inputs_embeds": 0}
"""Arguments with a place per token, and what stands where a row has none."""
_IF_ABSENT: Final = {"attention_mask": 1, "token_type_ids": 0, "labels": -100}
"""What an invoke without the argument means by leaving it out."""


def join(parts: Sequence[Prepared], padding: Padding) -> Prepared:
    """One batch of all parts, in order.

    Raises:
        BatchError: An argument cannot be joined: it is a tensor here and missing there, has other axes, or is no tensor
            and differs.
    """
    if len(parts) == 1:
        return parts[0]
    main = _main_argument(parts)
    length = max(part.arguments[main].shape[1] for part in parts)
    names = dict.fromkeys(name for part in parts for name in part.arguments)
    widths = [(part.rows, part.arguments[main].shape[1]) for part in parts]
    joined = {name: _column(name, [part.arguments for part in parts], widths, length, padding) for name in names}
    if "attention_mask" not in joined and any(width != length for _, width in widths):
        ones = [torch.ones(shape, dtype=torch.long) for shape in widths]
        joined["attention_mask"] = torch.cat([widen(one, length - one.shape[1], 0, padding.side, 1) for one in ones])
    return Prepared(joined, sum(part.rows for part in parts))


def _main_argument(parts: Sequence[Prepared]) -> str:
    for name in ("input_ids", "inputs_embeds"):
        if all(isinstance(part.arguments.get(name), Tensor) for part in parts):
            return name
    given = [sorted(part.arguments) for part in parts]
    raise BatchError(
        f"the invokes cannot be one batch: each needs input_ids, or each inputs_embeds, and they have {given}"
    )


def _column(
    name: str, rows: Sequence[Arguments], widths: Sequence[tuple[int, int]], length: int, padding: Padding
) -> Any:
    """The argument `name` of all invokes as one."""
    if not any(isinstance(row.get(name), Tensor) for row in rows):
        return _same(name, rows)
    values = [_value(name, row, shape) for row, shape in zip(rows, widths, strict=True)]
    if name == "input_ids" or name in _FILLED:
        fill = padding.token if name == "input_ids" else _FILLED[name]
        values = [widen(value, length - value.shape[1], fill, padding.side, 1) for value in values]
    shapes = {tuple(value.shape[1:]) for value in values}
    if len(shapes) > 1:
        raise BatchError(
            f"the invokes cannot be one batch: {name} has the shapes {[tuple(value.shape) for value in values]}, "
            f"and only the first axis may differ"
        )
    return torch.cat(values)


def _value(name: str, row: Arguments, shape: tuple[int, int]) -> Tensor:
    value = row.get(name)
    if isinstance(value, Tensor):
        return value
    if value is None and name == "position_ids":
        return positions(row.get("attention_mask", torch.ones(shape)))
    if value is None and name in _IF_ABSENT:
        return torch.full(shape, _IF_ABSENT[name], dtype=torch.long)
    raise BatchError(
        f"the invokes cannot be one batch: {name} is a tensor for some and {value!r} for others; give it to each, "
        f"or to the trace for all"
    )


def _same(name: str, rows: Sequence[Arguments]) -> Any:
    """An argument that is no tensor: it holds for the whole batch, so all that give it have to agree."""
    given = [row[name] for row in rows if name in row]
    if len(given) < len(rows) and is_cache(given[0]):
        raise BatchError(
            f"the invokes cannot be one batch: {name} is a {type(given[0]).__name__} for some and missing for others, and "
            f"it has rows. Run a trace each, or give one of all rows to the trace"
        )
    if any(value is not given[0] and value != given[0] for value in given[1:]):
        raise BatchError(
            f"the invokes cannot be one batch: {name} is {' and '.join(map(repr, given))}, and a batch has one. "
            f"Give it to the trace, or run a trace each"
        )
    return given[0]

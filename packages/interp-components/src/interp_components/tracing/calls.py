"""What stands in `model.trace(...)` and `tracer.invoke(...)`, as the call of the model that it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from interp_components.errors import BatchError
from interp_components.interleaving.rows import describe, rebuild


class Call:
    """Arguments of the model.

    Args:
        args: positional arguments.
        kwargs: keyword arguments.
        has_input: whether they hold something to run on, or only options.
        rows: how many rows of a batch they are; None to count the first tensor's when it is asked for.
    """

    __slots__ = ("_rows", "args", "has_input", "kwargs")

    def __init__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], has_input: bool = True, rows: int | None = None
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self.has_input = has_input
        self._rows = rows

    @property
    def rows(self) -> int:
        """How many rows of a batch the call is, 0 when it has no input."""
        if self._rows is None:
            self._rows = (_rows((*self.args, *self.kwargs.values())) or 1) if self.has_input else 0
        return self._rows


NO_CALL = Call((), {}, has_input=False)


def as_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """The arguments as they are. Keyword arguments without a tensor among them are options."""
    return Call(args, kwargs, True if args else _rows(tuple(kwargs.values())) > 0)


def _rows(values: Sequence[Any]) -> int:
    """The rows of the first tensor in `values`, 0 when there is none."""
    for value in values:
        if isinstance(value, torch.Tensor):
            return value.shape[0] if value.dim() else 1
        if isinstance(value, Mapping):
            value = tuple(value.values())
        if isinstance(value, (tuple, list)) and (rows := _rows(value)):
            return rows
    return 0


def join(calls: Sequence[Call]) -> Call:
    """One call for the batch: tensors are joined along their rows, other arguments have to be the same.

    Raises:
        BatchError: the calls differ in more than the contents of their tensors.
    """
    first = calls[0]
    for other in calls[1:]:
        if len(other.args) != len(first.args) or other.kwargs.keys() != first.kwargs.keys():
            raise BatchError(
                f"the invokes call the model with different arguments: {_signature(first)} and {_signature(other)}. "
                f"Give every invoke of a trace the same arguments."
            )
    args = tuple(_join([call.args[at] for call in calls], f"argument {at}") for at in range(len(first.args)))
    kwargs = {name: _join([call.kwargs[name] for call in calls], name) for name in first.kwargs}
    return Call(args, kwargs, rows=sum(call.rows for call in calls))


def _join(parts: list[Any], name: str) -> Any:
    first = parts[0]
    if all(isinstance(part, torch.Tensor) for part in parts):
        if len({part.shape[1:] for part in parts}) > 1 or not first.dim():
            raise BatchError(
                f"{name} cannot be put into one batch: {', '.join(describe(part) for part in parts)}. Tensors of several "
                f"invokes differ in their first dimension only; run the others in a trace of their own."
            )
        return torch.cat(parts)
    if isinstance(first, Mapping):
        return rebuild(first, {key: _join([part[key] for part in parts], f"{name}[{key!r}]") for key in first})
    if isinstance(first, (tuple, list)):
        joined = [_join(list(each), f"{name}[{at}]") for at, each in enumerate(zip(*parts, strict=True))]
        return rebuild(first, joined)
    if any(part is not first and part != first for part in parts):
        raise BatchError(
            f"{name} differs between the invokes: {', '.join(describe(part) for part in parts)}. Only tensors have rows of "
            f"their own; give every invoke the same value, or use a trace for each."
        )
    return first


def _signature(call: Call) -> str:
    names = [f"{len(call.args)} positional", *call.kwargs]
    return f"({', '.join(names)})"

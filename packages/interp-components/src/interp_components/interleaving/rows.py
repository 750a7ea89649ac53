"""Which rows of a batched value are a block's own: `with tracer.invoke(prompt):` sees its rows and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from interp_components.errors import RowsError
from interp_components.interleaving import keyvalues


@dataclass(eq=False)
class Batch:
    """The rows of one run.

    Attributes:
        total: rows the invokes put in, all together.
        multiples: how many rows of a tensor one row of the batch may stand for. 1, and what the run's inputs show:
            sequence length (a router sees batch*seq), beams, beams*seq.
    """

    total: int
    multiples: set[int] = field(default_factory=lambda: {1})

    def learn(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Take the multiples from the arguments of the root's forward."""
        self.multiples = {1}
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.Tensor) and value.dim() >= 2 and value.shape[0] % self.total == 0:
                beams, seq = value.shape[0] // self.total, value.shape[1]
                self.multiples |= {beams, seq, beams * seq}

    def per_row(self, tensor: torch.Tensor) -> int | None:
        """How many rows of `tensor` one row of the batch stands for; None when it is not laid out by rows."""
        if tensor.dim() == 0 or tensor.shape[0] % self.total or tensor.shape[0] == 0:
            return None
        each = tensor.shape[0] // self.total
        if each == 1:
            return 1
        return each if tensor.dim() >= 2 and each in self.multiples else None


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows `start` to `start + size` of a batch.

    Attributes:
        views: what was served of tensors that require a gradient, by identity, and the tensor of the whole batch, which is
            the one that the model goes on with.
    """

    start: int
    size: int
    batch: Batch
    views: dict[int, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)

    def narrow(self, value: Any) -> Any:
        """The block's part of `value`: views of its tensors, in containers of the same types."""
        return map_tensors(value, self._narrow, self._narrow_cache)

    def _narrow_cache(self, value: Any) -> Any:
        return keyvalues.narrowed(value, self._narrow) if keyvalues.is_cache(value) else value

    def _narrow(self, tensor: torch.Tensor) -> torch.Tensor:
        each = self.batch.per_row(tensor)
        if each is None:
            return tensor
        view = tensor.narrow(0, self.start * each, self.size * each)
        if view.requires_grad:
            self.views[id(view)] = view, tensor
        return view

    def whole_of(self, view: torch.Tensor) -> torch.Tensor | None:
        """The tensor of the whole batch that `view` was served of; None when it is no such view."""
        return self.views[id(view)][1] if id(view) in self.views else None

    def widen(self, whole: Any, part: Any, path: str) -> Any:
        """`whole` with the block's rows replaced by `part`; tensors that are not laid out by rows are replaced whole.

        Raises:
            RowsError: `part` has another structure, or another number of rows, than the block was served.
        """
        if isinstance(whole, torch.Tensor) and isinstance(part, torch.Tensor):
            return self._widen(whole, part, path)
        if isinstance(whole, Mapping) and isinstance(part, Mapping) and whole.keys() == part.keys():
            return rebuild(whole, {key: self.widen(value, part[key], path) for key, value in whole.items()})
        if isinstance(whole, (tuple, list)) and isinstance(part, (tuple, list)) and len(whole) == len(part):
            return rebuild(whole, [self.widen(one, other, path) for one, other in zip(whole, part, strict=True)])
        if isinstance(whole, (torch.Tensor, Mapping, tuple, list)):
            raise RowsError(
                f"{path} is {describe(whole)} for the whole batch, and {describe(part)} was assigned in one invoke. "
                f"Assign what was read, with its tensors replaced, so that the other invokes keep their rows."
            )
        if keyvalues.is_cache(whole) and keyvalues.is_cache(part):
            keyvalues.write(whole, part, lambda one, other: self._widen(one, other, path))
            return whole
        return part

    def _widen(self, whole: torch.Tensor, part: torch.Tensor, path: str) -> torch.Tensor:
        each = self.batch.per_row(whole)
        if each is None:
            return part
        first, count = self.start * each, self.size * each
        if part.shape[:1] != (count,) or part.shape[1:] != whole.shape[1:]:
            served = (count, *whole.shape[1:])
            raise RowsError(
                f"{path} has the shape {served} in this invoke, and {tuple(part.shape)} was assigned. Other invokes "
                f"share the batch, so the shape has to stay; run the prompt in a trace of its own to change it."
            )
        return torch.cat([whole[:first], part.to(whole), whole[first + count :]])


def join(parts: list[Any]) -> Any:
    """The parts of all blocks, in the order of their rows, as one value for the whole batch."""
    first = parts[0]
    if isinstance(first, torch.Tensor):
        return torch.cat(parts) if first.dim() else first
    if isinstance(first, Mapping):
        return rebuild(first, {key: join([part[key] for part in parts]) for key in first})
    if isinstance(first, (tuple, list)):
        return rebuild(first, [join(list(each)) for each in zip(*parts, strict=True)])
    return first


def map_tensors(value: Any, change: Callable[[torch.Tensor], Any], other: Callable[[Any], Any] | None = None) -> Any:
    """`value` with every tensor in it changed, and with whatever is neither tensor nor container as `other` makes it."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return rebuild(value, {key: map_tensors(one, change, other) for key, one in value.items()})
    if isinstance(value, (tuple, list)):
        return rebuild(value, [map_tensors(one, change, other) for one in value])
    return value if other is None else other(value)


def rebuild(like: Any, parts: Any) -> Any:
    """A container of the type of `like` around `parts`: a mapping's dict, or a sequence's list."""
    if isinstance(like, Mapping):
        return parts if type(like) is dict else type(like)(**parts)
    if hasattr(like, "_fields"):
        return type(like)(*parts)
    return type(like)(parts)


def describe(value: Any) -> str:
    """`a Tensor of shape (2, 5)`, `a tuple of 2`: what a message says a value is."""
    if isinstance(value, torch.Tensor):
        return f"a Tensor of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list, Mapping)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{value!r}"

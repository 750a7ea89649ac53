"""What a sweep is given, as tensors that can be repeated: `patch(model, "When Mary and John went", ...)`.

Any input of `model.trace` is one here. It is read off the model, which is stopped before anything of it runs, so tokens,
mask and positions are those of a trace of the same input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from interp_components.errors import InterpError
from interp_components.model import InputError, StandardizedTransformer
from interp_components.saving import save

# Any: what `model.trace` takes, a text, a list of texts, token ids, a tokenizer's answer, a chat.
Inputs: TypeAlias = Any


class AlignmentError(InterpError, ValueError):
    """Two inputs that are to be compared place by place do not have the same places."""


@dataclass(frozen=True)
class Batch:
    """An input as the model is given it.

    Attributes:
        arguments: Keyword arguments of the forward, tensors [batch, seq, ...].
    """

    arguments: dict[str, Tensor]

    @property
    def rows(self) -> int:
        """Number of prompts."""
        return self._main.shape[0]

    @property
    def length(self) -> int:
        """Number of tokens of a row, padding included."""
        return self._main.shape[1]

    @property
    def mask(self) -> Tensor:
        """1 for each token and 0 for padding [batch, seq]."""
        mask = self.arguments.get("attention_mask")
        return torch.ones(self._main.shape[:2], dtype=torch.long, device=self._main.device) if mask is None else mask

    @property
    def _main(self) -> Tensor:
        return self.arguments["input_ids" if "input_ids" in self.arguments else "inputs_embeds"]

    def repeated(self, times: int) -> dict[str, Tensor]:
        """The same prompts `times` over, [times * batch, seq, ...]."""
        return {name: value.repeat(times, *[1] * (value.ndim - 1)) for name, value in self.arguments.items()}

    def part(self, start: int, size: int) -> Batch:
        """The rows from `start` on, at most `size` of them."""
        return Batch({name: value[start : start + size] for name, value in self.arguments.items()})


def read(model: StandardizedTransformer, inputs: Inputs) -> Batch:
    """Return an input as the model is given it.

    Raises:
        InputError: Rows are padded on the right, so that the last position of a row is not its last token.
    """
    if isinstance(inputs, Batch):
        return inputs
    with model.trace(inputs) as tracer:
        given = save(model.inputs[1])
        tracer.stop()
    batch = Batch({name: value for name, value in given.items() if isinstance(value, Tensor)})
    if not bool(batch.mask[:, -1].all()):
        raise InputError(
            "rows are padded on the right, and position -1 has to be the last token of each: "
            "pad on the left, as `model.tokenizer.padding_side = 'left'` does"
        )
    return batch


def read_pair(model: StandardizedTransformer, clean: Inputs, corrupted: Inputs) -> tuple[Batch, Batch]:
    """Return two inputs whose positions answer to one another.

    Raises:
        AlignmentError: They differ in the number of prompts or tokens, or in where a row has its padding.
    """
    first, second = read(model, clean), read(model, corrupted)
    sizes = [(batch.rows, batch.length) for batch in (first, second)]
    if sizes[0] != sizes[1]:
        raise AlignmentError(
            f"the clean input is {sizes[0][0]} x {sizes[0][1]} tokens and the corrupted one {sizes[1][0]} x "
            f"{sizes[1][1]}: a value of one replaces the value at the same place of the other, so both need the same "
            f"number of prompts and, prompt by prompt, of tokens"
        )
    if not torch.equal(first.mask, second.mask):
        row = int((first.mask != second.mask).any(dim=1).nonzero()[0])
        raise AlignmentError(
            f"prompt {row} has {int(first.mask[row].sum())} tokens clean and {int(second.mask[row].sum())} corrupted: "
            f"a value of one replaces the value at the same place of the other, so both need the same number"
        )
    return first, second

"""Rows of a batch: padding them to one length, and numbering their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import pad

Side: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True)
class Padding:
    """With what, and on which side, rows are made equally long.

    The left is where a model that goes on from the last token wants it. What the token is does not matter to the
    numbers, since padding is masked.
    """

    token: int = 0
    side: Side = "left"


def pad_rows(rows: Sequence[Tensor], fill: float, side: Side) -> Tensor:
    """Stack rows [seq, ...] of different lengths into [batch, seq, ...]."""
    longest = max(len(row) for row in rows)
    return torch.stack([widen(row, longest - len(row), fill, side, axis=0) for row in rows])


def widen(value: Tensor, by: int, fill: float, side: Side, axis: int) -> Tensor:
    """Add `by` places of `fill` to one side of an axis."""
    if by == 0:
        return value
    behind = [0, 0] * (value.ndim - 1 - axis)
    return pad(value, [*behind, by, 0] if side == "left" else [*behind, 0, by], value=fill)


def positions(mask: Tensor) -> Tensor:
    """Number the places of each row from its first token on; what is in front of that gets 0, which nobody reads.

    A gap in the middle is no padding: a token that nobody may look at stands in its place all the same.

    Args:
        mask: attention mask [batch, seq], 1 for a token and 0 for padding.
    """
    padding = (mask.long().cumsum(-1) == 0).sum(-1, keepdim=True)
    return (torch.arange(mask.shape[-1], device=mask.device) - padding).clamp(min=0)

"""The named shapes, from `def mask(self, value: torch.Tensor) -> Pattern`.

A layout says what the axes of a value are, in order, and which kind of number it holds. It is a jaxtyping alias, so a
type checker sees a plain `Tensor`, `isinstance(value, Pattern)` checks rank and dtype, and `Pattern.dim_str` spells the
axes. Two layouts with the same axes (`ScanValues`, `ScanSteps`) are two objects with two names.

An axis name is a label, not a size. Nothing here compares sizes, because a model may broadcast: the mask that GPT-2 adds
to its scores has a single head, and is a `Pattern` all the same.

Axes that mean one thing everywhere: `query` and `key` are positions seen from the two sides of attention; `num_heads`
counts query heads and `num_kv_heads` the heads of keys and values, which are fewer under grouped attention.
"""

# ruff: noqa: F722  (the strings are axis names; ruff reads a string in brackets as a forward reference)

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

# The residual stream and the two ends of the model.
Residual: TypeAlias = Float[Tensor, "batch seq hidden"]
Streams: TypeAlias = Float[Tensor, "batch seq streams hidden"]
StreamWeights: TypeAlias = Float[Tensor, "batch seq streams"]
StreamMixing: TypeAlias = Float[Tensor, "batch seq streams streams"]
Tokens: TypeAlias = Int[Tensor, "batch seq"]
Logits: TypeAlias = Float[Tensor, "batch seq vocab"]
NextTokenProbs: TypeAlias = Float[Tensor, "batch vocab"]

# Attention. A mask has the axes of the scores it is added to and, by kernel, floats or booleans.
Queries: TypeAlias = Float[Tensor, "batch num_heads seq qk_head_dim"]
Keys: TypeAlias = Float[Tensor, "batch num_kv_heads seq qk_head_dim"]
Values: TypeAlias = Float[Tensor, "batch num_kv_heads seq head_dim"]
Pattern: TypeAlias = Float[Tensor, "batch num_heads query key"]
Mask: TypeAlias = Shaped[Tensor, "batch num_heads query key"]
HeadOutputs: TypeAlias = Float[Tensor, "batch seq num_heads head_dim"]

# MLPs and mixtures of experts.
Neurons: TypeAlias = Float[Tensor, "batch seq intermediate"]
RouterLogits: TypeAlias = Float[Tensor, "batch seq experts"]
ExpertWeights: TypeAlias = Float[Tensor, "batch seq top_k"]
ExpertIndices: TypeAlias = Int[Tensor, "batch seq top_k"]
ExpertOutputs: TypeAlias = Float[Tensor, "batch seq top_k hidden"]

# Linear attention.
LinearQK: TypeAlias = Float[Tensor, "batch seq heads key_dim"]
LinearV: TypeAlias = Float[Tensor, "batch seq heads value_dim"]
Gates: TypeAlias = Float[Tensor, "batch seq heads"]
ChannelGates: TypeAlias = Float[Tensor, "batch seq heads key_dim"]
State: TypeAlias = Float[Tensor, "batch heads key_dim value_dim"]
States: TypeAlias = Float[Tensor, "batch seq heads key_dim value_dim"]

# Selective scans (one state per channel) and state-space duality (one per head).
ScanQK: TypeAlias = Float[Tensor, "batch seq groups state_dim"]
ScanValues: TypeAlias = Float[Tensor, "batch seq channels"]
ScanSteps: TypeAlias = Float[Tensor, "batch seq channels"]
ScanDecays: TypeAlias = Float[Tensor, "batch seq channels state_dim"]
ScanState: TypeAlias = Float[Tensor, "batch channels state_dim"]
ScanStates: TypeAlias = Float[Tensor, "batch seq channels state_dim"]
SSDQueries: TypeAlias = Float[Tensor, "batch seq groups state_dim"]
SSDKeys: TypeAlias = Float[Tensor, "batch seq groups state_dim"]
SSDValues: TypeAlias = Float[Tensor, "batch seq heads head_dim"]
SSDHeadOutputs: TypeAlias = Float[Tensor, "batch seq heads head_dim"]

# Images beside the text.
Patches: TypeAlias = Float[Tensor, "images patches vision_hidden"]
ImageTokenMask: TypeAlias = Bool[Tensor, "batch seq"]
ImageFeatures: TypeAlias = Float[Tensor, "image_tokens hidden"]

__all__ = [
    "ChannelGates",
    "ExpertIndices",
    "ExpertOutputs",
    "ExpertWeights",
    "Gates",
    "HeadOutputs",
    "ImageFeatures",
    "ImageTokenMask",
    "Keys",
    "LinearQK",
    "LinearV",
    "Logits",
    "Mask",
    "Neurons",
    "NextTokenProbs",
    "Patches",
    "Pattern",
    "Queries",
    "Residual",
    "RouterLogits",
    "SSDHeadOutputs",
    "SSDKeys",
    "SSDQueries",
    "SSDValues",
    "ScanDecays",
    "ScanQK",
    "ScanState",
    "ScanStates",
    "ScanSteps",
    "ScanValues",
    "State",
    "States",
    "StreamMixing",
    "StreamWeights",
    "Streams",
    "Tokens",
    "Values",
]


def dims(layout: Any) -> tuple[str, ...]:
    """Return the axis names of a layout in order, or `()` for a type that names none."""
    # Any: an alias is a class at run time and an annotated Tensor to a type checker.
    return tuple(getattr(layout, "dim_str", "").split())


def layout_name(layout: Any) -> str:
    """Return what people call a layout: its name in this module, else the name of the type itself."""
    return _names().get(id(layout)) or str(getattr(layout, "__name__", layout))


@cache
def _names() -> dict[int, str]:
    # Keyed by identity, since jaxtyping compares neither by axes nor by name. The aliases live as long as the module.
    return {id(globals()[name]): name for name in __all__}

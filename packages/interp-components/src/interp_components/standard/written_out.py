"""Attention that a forward writes out by itself and hands to no attention interface.

Queries, keys, values, scores and patterns are operations of that forward, and each family names its own. Two values are
where they are in all of these forwards: the mask is an argument, and what the heads read enters the output projection
side by side.
"""

from __future__ import annotations

from torch import Tensor

from interp_components.layouts import HeadOutputs, Mask
from interp_components.properties import CopyEProperty, EProperty
from interp_components.standard.attention import Attention
from interp_components.standard.reasons import needs_eager


class WrittenOutAttention(Attention):
    """Attention without the interface."""

    @CopyEProperty("inputs", select="attention_mask", unavailable=needs_eager)
    def attention_mask(self, value: Tensor) -> Mask:
        """What is added to the scores; very negative where a query may not look.

        A copy: the blocks of a model share one mask, and an edit is meant for this block.
        """
        return value

    @EProperty("o_proj.input")
    def attention_head_outputs(self, value: Tensor) -> HeadOutputs:
        """What each head read, ahead of the output projection."""
        return value.view(*value.shape[:-1], self.num_heads, self.head_dim)

    @attention_head_outputs.postprocess
    def _flattened(self, value: Tensor) -> Tensor:
        return value.flatten(-2)

"""Blocks with norms behind their parts, from `hidden_states = residual + self.post_attention_layernorm(hidden_states)`.

What is added to the residual stream is what the norm returns, not the module in front of it. The norms are called
`post_attention_layernorm` and `post_feedforward_layernorm` in most of these architectures; the first name means another
norm, the one in front of the MLP, in all others.
"""

from __future__ import annotations

from torch import Tensor

from interp_components.layouts import Residual
from interp_components.properties import EProperty
from interp_components.standard.attention import Attention
from interp_components.standard.mlp import Mlp


class PostNormAttention(Attention):
    """Attention with a norm behind it."""

    @EProperty("../post_attention_layernorm.output")
    def attention_output(self, value: Tensor) -> Residual:
        """What attention adds to the residual stream, after the norm behind it."""
        return value


class PostNormMlp(Mlp):
    """An MLP with a norm behind it."""

    @EProperty("../post_feedforward_layernorm.output")
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream, after the norm behind it."""
        return value

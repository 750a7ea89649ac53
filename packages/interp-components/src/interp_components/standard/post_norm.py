"""Blocks with norms behind their parts, from `hidden_states = residual + self.post_attention_layernorm(hidden_states)`.

What is added to the residual stream is what the norm returns, not the module in front of it. The norms are called
`post_attention_layernorm` and `post_feedforward_layernorm` in most of these architectures; the first name means another
norm, the one in front of the MLP, in all others.

Some have norms in front as well (`SandwichLayer`); in others the parts read the stream itself (`PostOnly...`), so an edit in
place of a part's input would be one of the stream. There the input is served as a copy.
"""

from __future__ import annotations

from torch import Tensor

from interp_components.layouts import Residual
from interp_components.properties import CopyEProperty, EProperty
from interp_components.standard.attention import Attention
from interp_components.standard.layer import Layer
from interp_components.standard.mlp import Mlp
from interp_components.standard.residual import ResidualEProperty


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


class SandwichLayer(Layer):
    """A block with norms in front of and behind its parts."""

    @ResidualEProperty("pre_feedforward_layernorm.input")
    def resid_mid(self, value: Tensor) -> Residual:
        """The residual stream between attention and MLP."""
        return value


class PostOnlyAttention(PostNormAttention):
    """Attention with a norm behind it and none in front."""

    @CopyEProperty("input")
    def attention_input(self, value: Tensor) -> Residual:
        """What the module is given: the residual stream itself."""
        return value


class PostOnlyMlp(PostNormMlp):
    """An MLP with a norm behind it and none in front."""

    @CopyEProperty("input")
    def mlp_input(self, value: Tensor) -> Residual:
        """What the module is given: the residual stream itself."""
        return value


class PostOnlyLayer(Layer):
    """A block with norms behind its parts and none in front."""

    @ResidualEProperty("mlp.input")
    def resid_mid(self, value: Tensor) -> Residual:
        """The residual stream between attention and MLP."""
        return value

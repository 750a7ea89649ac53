"""GLM-4: GLM with norms behind attention and MLP as well, under names of their own.

`post_attention_layernorm` is the norm in front of the MLP here, as in llama; behind the parts stand
`post_self_attn_layernorm` and `post_mlp_layernorm`. Source: transformers.models.glm4.modeling_glm4, transformers 5.24.
"""

from __future__ import annotations

from torch import Tensor
from transformers.models.glm4 import modeling_glm4 as native

from interp_components import standard
from interp_components.layouts import Residual
from interp_components.properties import EProperty
from interp_components.standard import Layer, llama_like

RENAME = llama_like.RENAME


class Attention(standard.Attention):
    """Attention with a norm behind it."""

    @EProperty("../post_self_attn_layernorm.output")
    def attention_output(self, value: Tensor) -> Residual:
        """What attention adds to the residual stream, after the norm behind it."""
        return value


class Mlp(standard.Mlp):
    """An MLP with a norm behind it."""

    @EProperty("../post_mlp_layernorm.output")
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream, after the norm behind it."""
        return value


ENVOYS = {native.Glm4DecoderLayer: Layer, native.Glm4Attention: Attention, native.Glm4MLP: Mlp}

"""XGLM: sinusoidal positions, scaled embeddings, and an MLP without a module of its own.

The block holds the MLP's two projections itself, and `mlp` is the last of them, `fc2`. Attention is written out in its
own forward, and is eager always. It merges rows and heads; values are served where the two are still apart. Keys and
values come out of the cache when there is one. The scale of the embeddings is part of their module.
Source: XGLMAttention.forward and XGLMDecoderLayer.forward, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.xglm import modeling_xglm as native

from interp_components.layouts import Pattern, Queries
from interp_components.properties import EProperty
from interp_components.standard import CachingAttention, Layer, LooseMlp

RENAME = {
    "model.embed_tokens": "embed_tokens",
    "model.layers": "layers",
    "model.layer_norm": "norm",
    "self_attn.out_proj": "self_attn.o_proj",
    "self_attn_layer_norm": "input_layernorm",
    "final_layer_norm": "post_attention_layernorm",
    "fc2": "mlp",
}


class Attention(CachingAttention):
    """XGLM's attention."""

    queries_operation, keys_operation, values_operation = "query_states_0", "key_states_2", "value_states_2"
    cache_operation = "curr_cache_update_0"

    @EProperty(CachingAttention.queries_key)
    def attention_queries(self, value: Tensor) -> Queries:
        """Queries as the scores see them, the scale included."""
        return value.view(*value.shape[:-1], self.num_heads, self.head_dim).transpose(1, 2)

    @attention_queries.postprocess
    def _side_by_side(self, value: Tensor) -> Tensor:
        return value.transpose(1, 2).flatten(-2)

    @EProperty("source.torch_max_0.output")
    def attention_scores(self, value: Tensor) -> Pattern:
        """Scaled and masked scores that enter the softmax."""
        return value

    @EProperty("source.attn_weights_reshaped_0.output")
    def attention_probabilities(self, value: Tensor) -> Pattern:
        """The pattern that mixes the values; each row is over the keys."""
        return value


ENVOYS = {native.XGLMDecoderLayer: Layer, native.XGLMAttention: Attention, "fc2": LooseMlp}


def intermediate_size(model: Any) -> int:
    """Return `ffn_dim`."""
    return int(model.text_config.ffn_dim)

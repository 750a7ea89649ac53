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

from interp_components.layouts import Keys, Pattern, Queries, Values
from interp_components.properties import EProperty
from interp_components.standard import Layer, LooseMlp, WrittenOutAttention
from interp_components.standard.calls import argument

RENAME = {
    "model.embed_tokens": "embed_tokens",
    "model.layers": "layers",
    "model.layer_norm": "norm",
    "self_attn.out_proj": "self_attn.o_proj",
    "self_attn_layer_norm": "input_layernorm",
    "final_layer_norm": "post_attention_layernorm",
    "fc2": "mlp",
}


def _has_cache(attention: Attention) -> bool:
    return argument(attention, "cache") is not None


def _queries(attention: Attention) -> str:
    _has_cache(attention)  # asked here, since keys and values, which come next, have to know and could not ask any more
    return "source.query_states_0.output"


def _keys(attention: Attention) -> str:
    return f"source.{'curr_cache_update_0' if _has_cache(attention) else 'key_states_2'}.output"


def _values(attention: Attention) -> str:
    return f"source.{'curr_cache_update_0' if _has_cache(attention) else 'value_states_2'}.output"


class Attention(WrittenOutAttention):
    """XGLM's attention."""

    @EProperty(_queries)
    def attention_queries(self, value: Tensor) -> Queries:
        """Queries as the scores see them, the scale included."""
        return value.view(*value.shape[:-1], self.num_heads, self.head_dim).transpose(1, 2)

    @attention_queries.postprocess
    def _side_by_side(self, value: Tensor) -> Tensor:
        return value.transpose(1, 2).flatten(-2)

    @EProperty(_keys, select=lambda attention: 0 if _has_cache(attention) else None)
    def attention_keys(self, value: Tensor) -> Keys:
        """Keys as the scores see them, after the cache."""
        return value

    @EProperty(_values, select=lambda attention: 1 if _has_cache(attention) else None)
    def attention_values(self, value: Tensor) -> Values:
        """Values that the pattern mixes, after the cache."""
        return value

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

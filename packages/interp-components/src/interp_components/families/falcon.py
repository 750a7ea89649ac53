"""Falcon: attention written out in its own forward, in four shapes.

The 7B model shares one head of keys and values (`multi_query`) and runs attention and MLP side by side; the 40B, 180B
and 11B models (`new_decoder_architecture`) share heads in groups, with one norm in front or with two; the 1B models add
alibi to the scores instead of rotating queries and keys, and run attention and MLP one after the other.

Where a value is depends on the shape and on the call: keys and values come out of the cache when there is one. Grouped
keys and values are repeated for all heads before anything can be read.

Source: FalconAttention.forward and FalconDecoderLayer.forward, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.falcon import modeling_falcon as native

from interp_components import standard
from interp_components.layouts import Keys, Pattern, Queries, Residual, Values
from interp_components.properties import CopyEProperty, EProperty
from interp_components.standard import WrittenOutAttention, needs_eager
from interp_components.standard.calls import argument

RENAME = {
    "transformer.word_embeddings": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "self_attention": "self_attn",
    "self_attention.dense": "self_attention.o_proj",
    "mlp.dense_4h_to_h": "mlp.down_proj",
    "ln_attn": "input_layernorm",
    "ln_mlp": "post_attention_layernorm",
}


def _has_alibi(attention: Attention) -> bool:
    return bool(attention.config.alibi)


def _has_cache(attention: Attention) -> bool:
    return argument(attention, "layer_past") is not None


def _queries(attention: Attention) -> str:
    _has_cache(attention)  # asked here, since keys and values, which come next, have to know and could not ask any more
    return "source.query_layer_0.output" if _has_alibi(attention) else "source.apply_rotary_pos_emb_0.output"


def _keys(attention: Attention) -> str:
    if _has_cache(attention):
        return "source.layer_past_update_0.output"
    return "source.key_layer_0.output" if _has_alibi(attention) else "source.apply_rotary_pos_emb_0.output"


def _which_key(attention: Attention) -> int | None:
    if _has_cache(attention):
        return 0
    return None if _has_alibi(attention) else 1


def _values(attention: Attention) -> str:
    return "source.layer_past_update_0.output" if _has_cache(attention) else "source.value_layer_0.output"


def _softmax(attention: Attention) -> str:
    return "source.F_softmax_1" if _has_alibi(attention) else "source.F_softmax_0"


def _pattern(attention: Attention) -> str:
    # Dropout is applied to the pattern in the alibi branch alone.
    return f"{'source.self_attention_dropout_0' if _has_alibi(attention) else _softmax(attention)}.output"


class Attention(WrittenOutAttention):
    """Falcon's attention; with alibi, the mask has alibi in it, and eager attention adds it once more."""

    @EProperty(_queries, select=lambda attention: None if _has_alibi(attention) else 0)
    def attention_queries(self, value: Tensor) -> Queries:
        """Queries as the scores see them, after rotary."""
        return value

    @EProperty(_keys, select=_which_key)
    def attention_keys(self, value: Tensor) -> Keys:
        """Keys as the scores see them, after rotary and cache; repeated for all heads where heads are grouped."""
        return value

    @EProperty(_values, select=lambda attention: 1 if _has_cache(attention) else None)
    def attention_values(self, value: Tensor) -> Values:
        """Values that the pattern mixes, after the cache; repeated for all heads where heads are grouped."""
        return value

    @EProperty(lambda attention: f"{_softmax(attention)}.input", unavailable=needs_eager)
    def attention_scores(self, value: Tensor) -> Pattern:
        """Scaled and masked scores that enter the softmax."""
        return value

    @EProperty(_pattern, unavailable=needs_eager)
    def attention_probabilities(self, value: Tensor) -> Pattern:
        """The pattern that mixes the values; each row is over the keys."""
        return value


class Mlp(standard.Mlp):
    """Falcon's MLP, into whose output a parallel block adds attention's."""

    @CopyEProperty("output")
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream."""
        return value


class Layer(standard.Layer):
    """Falcon's block, which runs attention and MLP side by side in most of the models."""

    returns_tuple = True

    @property
    def is_parallel(self) -> bool:
        """Whether this model runs attention and MLP side by side."""
        return bool(self.config.new_decoder_architecture or self.config.parallel_attn)


ENVOYS = {native.FalconDecoderLayer: Layer, native.FalconAttention: Attention, native.FalconMLP: Mlp}


def num_kv_heads(model: Any) -> int:
    """Return the number of heads that the weights have for keys and values."""
    heads: int = model.layers[0].self_attn.num_kv_heads
    return heads


def intermediate_size(model: Any) -> int:
    """Return `ffn_hidden_size`, which the config fills in as 4 times the hidden size."""
    return int(model.text_config.ffn_hidden_size)

"""BLOOM: alibi, a norm behind the embeddings, and modules that add the residual stream themselves.

Attention and MLP return the stream with their contribution added, so a contribution is what enters that addition. In one
option of the config (`apply_residual_connection_post_layernorm`) it is added to what the norm in front returned.

Attention is written out in its own forward, and is eager always. Keys and values come out of the cache when there is one.
Source: transformers.models.bloom.modeling_bloom, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.bloom import modeling_bloom as native

from interp_components import standard
from interp_components.layouts import Keys, Pattern, Queries, Residual, Values
from interp_components.properties import EProperty
from interp_components.standard import WrittenOutAttention
from interp_components.standard.calls import argument

RENAME = {
    "transformer.word_embeddings": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "self_attention": "self_attn",
    "self_attention.dense": "self_attention.o_proj",
    "mlp.dense_4h_to_h": "mlp.down_proj",
}


def _has_cache(attention: Attention) -> bool:
    return argument(attention, "layer_past") is not None


def _queries(attention: Attention) -> str:
    _has_cache(attention)  # asked here, since keys and values, which come next, have to know and could not ask any more
    return "source.self__reshape_0.output"


def _keys_and_values(attention: Attention) -> str:
    return "source.layer_past_update_0.output" if _has_cache(attention) else "source.self__reshape_0.output"


class Attention(WrittenOutAttention):
    """BLOOM's attention, which adds alibi to the scores beside the mask, and the residual stream to its output."""

    sourced = True  # attention_output is an operation, and can be asked for after attention_head_outputs, which is none

    @EProperty(_queries, select=0)
    def attention_queries(self, value: Tensor) -> Queries:
        """Queries as the scores see them."""
        return value

    @EProperty(_keys_and_values, select=lambda attention: 0 if _has_cache(attention) else 1)
    def attention_keys(self, value: Tensor) -> Keys:
        """Keys as the scores see them, after the cache."""
        return value

    @EProperty(_keys_and_values, select=lambda attention: 1 if _has_cache(attention) else 2)
    def attention_values(self, value: Tensor) -> Values:
        """Values that the pattern mixes, after the cache."""
        return value

    @EProperty("source.F_softmax_0.input")
    def attention_scores(self, value: Tensor) -> Pattern:
        """Scaled scores with alibi and mask, which enter the softmax."""
        return value

    @EProperty("source.self_attention_dropout_0.output")
    def attention_probabilities(self, value: Tensor) -> Pattern:
        """The pattern that mixes the values; each row is over the keys."""
        return value

    @EProperty("source.dropout_add_0.input")
    def attention_output(self, value: Tensor) -> Residual:
        """What attention adds to the residual stream."""
        return value


class Mlp(standard.Mlp):
    """BLOOM's MLP, which adds the residual stream to its output."""

    sourced = True

    @EProperty("source.dropout_add_0.input")
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream."""
        return value


class Layer(standard.Layer):
    """BLOOM's block."""

    returns_tuple = True

    def recomposed(self, layer_input: Tensor, attention_output: Tensor, mlp_output: Tensor) -> Tensor:
        """Return the block's output from the stream, or what the norms make of it, and the two contributions."""
        if not self._module.apply_residual_connection_post_layernorm:
            return super().recomposed(layer_input, attention_output, mlp_output)
        middle: Tensor = self.input_layernorm(layer_input) + attention_output
        output: Tensor = self.post_attention_layernorm(middle) + mlp_output
        return output


ENVOYS = {native.BloomBlock: Layer, native.BloomAttention: Attention, native.BloomMLP: Mlp}


def intermediate_size(model: Any) -> int:
    """Return 4 times the hidden size, which the architecture fixes."""
    return int(4 * model.hidden_size)

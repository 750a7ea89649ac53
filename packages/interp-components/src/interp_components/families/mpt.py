"""MPT: alibi, one projection for queries, keys and values, and an MLP that adds the residual stream itself.

The MLP returns the stream with its contribution added, so the contribution is what enters that addition. Attention is
written out in its own forward, and is eager always; its mask is not added but says where scores are overwritten. Keys and
values come out of the cache when there is one.
Source: MptAttention.forward and MptMLP.forward, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.mpt import modeling_mpt as native

from interp_components import standard
from interp_components.layouts import Pattern, Residual
from interp_components.properties import EProperty, unavailable
from interp_components.standard import CachingAttention

RENAME = {
    "transformer.wte": "embed_tokens",
    "transformer.blocks": "layers",
    "transformer.norm_f": "norm",
    "attn": "self_attn",
    "attn.out_proj": "attn.o_proj",
    "norm_1": "input_layernorm",
    "norm_2": "post_attention_layernorm",
    "ffn": "mlp",
}


class Attention(CachingAttention):
    """MPT's attention, which adds alibi to the scores."""

    queries_operation, keys_operation, values_operation = "query_states_0", "key_states_0", "value_states_0"
    cache_operation = "cache_update_0"

    attention_mask = unavailable(
        "this attention adds no mask to its scores: it overwrites them where a boolean mask is True; write "
        "attention_scores, or the mask itself, self_attn.inputs[1]['attention_mask']"
    )

    @EProperty("source.nn_functional_softmax_0.input")
    def attention_scores(self, value: Tensor) -> Pattern:
        """Scaled scores with alibi, overwritten where a query may not look, which enter the softmax."""
        return value

    @EProperty("source.nn_functional_dropout_0.output")
    def attention_probabilities(self, value: Tensor) -> Pattern:
        """The pattern that mixes the values; each row is over the keys."""
        return value


class Mlp(standard.Mlp):
    """MPT's MLP, which adds the residual stream to its output."""

    sourced = True

    @EProperty("source.F_dropout_0.output")
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream."""
        return value


class Layer(standard.Layer):
    """MPT's block."""

    returns_tuple = True


ENVOYS = {native.MptBlock: Layer, native.MptAttention: Attention, native.MptMLP: Mlp}


def intermediate_size(model: Any) -> int:
    """Return 4 times the hidden size, which the architecture fixes whatever `expansion_ratio` says."""
    return int(4 * model.hidden_size)

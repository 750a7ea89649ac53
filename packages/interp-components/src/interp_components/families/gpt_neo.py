"""GPT-Neo: unscaled scores, a window in every other block, and attention one module further down.

`self_attn` is the module that computes, `attn.attention`. The window is no part of the mask: the forward cuts it out of
the scores by itself. Attention is written out in a method, which the eager implementation calls with queries, keys and
values; the flash implementation goes another way.
Source: GPTNeoSelfAttention.forward and ._attn, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.gpt_neo import modeling_gpt_neo as native

from interp_components import standard
from interp_components.layouts import Keys, Pattern, Queries, Values
from interp_components.properties import EProperty
from interp_components.standard import Mlp, WrittenOutAttention, needs_eager

RENAME = {
    "transformer.wte": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "attn.attention": "self_attn",
    "attention.out_proj": "attention.o_proj",
    "ln_1": "input_layernorm",
    "ln_2": "post_attention_layernorm",
    "mlp.c_proj": "mlp.down_proj",
}


class Attention(WrittenOutAttention):
    """GPT-Neo's attention, whose mask says nothing of the window."""

    @EProperty("source.self__attn_0.inputs", select=0, unavailable=needs_eager)
    def attention_queries(self, value: Tensor) -> Queries:
        """Queries as the scores see them."""
        return value

    @EProperty("source.self__attn_0.inputs", select=1, unavailable=needs_eager)
    def attention_keys(self, value: Tensor) -> Keys:
        """Keys as the scores see them, after the cache."""
        return value

    @EProperty("source.self__attn_0.inputs", select=2, unavailable=needs_eager)
    def attention_values(self, value: Tensor) -> Values:
        """Values that the pattern mixes, after the cache."""
        return value

    @EProperty("source.self__attn_0.source.nn_functional_softmax_0.input", unavailable=needs_eager)
    def attention_scores(self, value: Tensor) -> Pattern:
        """Scores with window and mask, which enter the softmax."""
        return value

    @EProperty("source.self__attn_0.source.self_attn_dropout_0.output", unavailable=needs_eager)
    def attention_probabilities(self, value: Tensor) -> Pattern:
        """The pattern that mixes the values; each row is over the keys."""
        return value


class Layer(standard.Layer):
    """GPT-Neo's block."""

    returns_tuple = True


ENVOYS = {native.GPTNeoBlock: Layer, native.GPTNeoSelfAttention: Attention, native.GPTNeoMLP: Mlp}


def intermediate_size(model: Any) -> int:
    """Return `intermediate_size`, which is 4 times the hidden size when the config leaves it open."""
    return int(model.text_config.intermediate_size or 4 * model.hidden_size)

"""GPT-2: fused queries, keys and values, learned positions, LayerNorms with biases.

Source: transformers.models.gpt2.modeling_gpt2, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from transformers.models.gpt2 import modeling_gpt2 as native

from interp_components import standard
from interp_components.standard import Layer

RENAME = {
    "transformer.wte": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "attn": "self_attn",
    "attn.c_proj": "attn.o_proj",
    "ln_1": "input_layernorm",
    "ln_2": "post_attention_layernorm",
    "mlp.c_proj": "mlp.down_proj",
}


class Attention(standard.Attention):
    """GPT-2's attention, which leaves the interface when it is told to reorder and upcast."""

    def off_interface(self) -> str | None:
        """Return why this module does not call the attention interface, or None when it does."""
        if self._module.reorder_and_upcast_attn and standard.implementation(self) == "eager":
            return (
                "reorder_and_upcast_attn=True makes the eager forward compute attention by itself; "
                "load with reorder_and_upcast_attn=False"
            )
        return None


ENVOYS = {native.GPT2Block: Layer, native.GPT2Attention: Attention, native.GPT2MLP: standard.Mlp}


def intermediate_size(model: Any) -> int:
    """Return `n_inner`, which is 4 times the hidden size when the config leaves it open."""
    return int(model.text_config.n_inner or 4 * model.hidden_size)

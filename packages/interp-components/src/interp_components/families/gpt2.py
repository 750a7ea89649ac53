"""GPT-2: fused queries, keys and values, learned positions, LayerNorms with biases.

Source: transformers.models.gpt2.modeling_gpt2, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.gpt2 import modeling_gpt2 as native

from interp_components import standard
from interp_components.standard import Layer, gpt2_like

RENAME = gpt2_like.RENAME


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

intermediate_size = gpt2_like.intermediate_size

"""Apertus: an MLP without a gate, bent by xIELU, and norms on each head's queries and keys.

The two norms of a block are called after what they are in front of.

Source: transformers.models.apertus.modeling_apertus, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.apertus import modeling_apertus as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = {
    **llama_like.RENAME,
    "attention_layernorm": "input_layernorm",
    "feedforward_layernorm": "post_attention_layernorm",
}
ENVOYS = {native.ApertusDecoderLayer: Layer, native.ApertusAttention: Attention, native.ApertusMLP: Mlp}

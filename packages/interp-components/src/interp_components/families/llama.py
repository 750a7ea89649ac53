"""Llama: RMSNorm, rotary positions, grouped heads, gated MLP; the layout that most later decoders keep.

Source: transformers.models.llama.modeling_llama, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.llama import modeling_llama as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.LlamaDecoderLayer: Layer, native.LlamaAttention: Attention, native.LlamaMLP: Mlp}

"""Gemma: llama with wide heads, norms that scale by 1 + weight, and embeddings scaled by the root of the width.

The scale is part of the embedding module, so `token_embeddings` is what enters the first block.
Source: transformers.models.gemma.modeling_gemma, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.gemma import modeling_gemma as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.GemmaDecoderLayer: Layer, native.GemmaAttention: Attention, native.GemmaMLP: Mlp}

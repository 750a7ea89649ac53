"""Arcee: llama with an MLP without a gate, whose neurons are squared after a ReLU.

Source: transformers.models.arcee.modeling_arcee, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.arcee import modeling_arcee as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.ArceeDecoderLayer: Layer, native.ArceeAttention: Attention, native.ArceeMLP: Mlp}

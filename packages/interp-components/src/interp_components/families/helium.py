"""Helium: llama with rotary in interleaved pairs.

Source: transformers.models.helium.modeling_helium, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.helium import modeling_helium as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.HeliumDecoderLayer: Layer, native.HeliumAttention: Attention, native.HeliumMLP: Mlp}

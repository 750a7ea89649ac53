"""Phi-3: llama with one projection for queries, keys and values, one for gate and neurons, and a window.

Neither fused projection is read: heads are read where attention is called, neurons where they enter `down_proj`.

Source: transformers.models.phi3.modeling_phi3, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.phi3 import modeling_phi3 as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.Phi3DecoderLayer: Layer, native.Phi3Attention: Attention, native.Phi3MLP: Mlp}

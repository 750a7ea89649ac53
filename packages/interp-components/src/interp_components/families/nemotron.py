"""Nemotron: LayerNorms that scale by 1 + weight, rotary on half of each head, squared ReLU in an MLP without a gate.

Source: transformers.models.nemotron.modeling_nemotron, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.nemotron import modeling_nemotron as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.NemotronDecoderLayer: Layer, native.NemotronAttention: Attention, native.NemotronMLP: Mlp}

"""Mistral: llama in whose every block a query sees a window of the latest positions.

Source: transformers.models.mistral.modeling_mistral, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.mistral import modeling_mistral as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.MistralDecoderLayer: Layer, native.MistralAttention: Attention, native.MistralMLP: Mlp}

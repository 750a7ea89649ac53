"""SmolLM3: llama with every fourth block left without rotary positions.

Source: transformers.models.smollm3.modeling_smollm3, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.smollm3 import modeling_smollm3 as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.SmolLM3DecoderLayer: Layer, native.SmolLM3Attention: Attention, native.SmolLM3MLP: Mlp}

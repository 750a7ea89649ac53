"""Qwen2: llama with biases on queries, keys and values, and windows in its later blocks where the config says so.

Source: transformers.models.qwen2.modeling_qwen2, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.qwen2 import modeling_qwen2 as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.Qwen2DecoderLayer: Layer, native.Qwen2Attention: Attention, native.Qwen2MLP: Mlp}

"""Qwen3: llama with a norm on each head's queries and keys, ahead of rotary.

Source: transformers.models.qwen3.modeling_qwen3, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.qwen3 import modeling_qwen3 as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.Qwen3DecoderLayer: Layer, native.Qwen3Attention: Attention, native.Qwen3MLP: Mlp}

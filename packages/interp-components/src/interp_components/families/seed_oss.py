"""Seed-OSS: llama with biases on queries, keys and values, and dropout behind attention and MLP in training.

Source: transformers.models.seed_oss.modeling_seed_oss, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.seed_oss import modeling_seed_oss as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.SeedOssDecoderLayer: Layer, native.SeedOssAttention: Attention, native.SeedOssMLP: Mlp}

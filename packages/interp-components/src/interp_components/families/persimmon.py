"""Persimmon: one projection for queries, keys and values, norms on each head's queries and keys, squared ReLU.

Source: transformers.models.persimmon.modeling_persimmon, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.persimmon import modeling_persimmon as native

from interp_components.standard import Attention, Layer, Mlp

RENAME = {
    "model.embed_tokens": "embed_tokens",
    "model.layers": "layers",
    "model.final_layernorm": "norm",
    "self_attn.dense": "self_attn.o_proj",
    "mlp.dense_4h_to_h": "mlp.down_proj",
}
ENVOYS = {native.PersimmonDecoderLayer: Layer, native.PersimmonAttention: Attention, native.PersimmonMLP: Mlp}

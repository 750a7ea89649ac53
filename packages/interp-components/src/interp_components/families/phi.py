"""Phi: attention and MLP side by side behind one norm, rotary on a part of each head, biases everywhere.

An edit in place of `attention_input` reaches the MLP too, since both are given one tensor.
Source: transformers.models.phi.modeling_phi, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.phi import modeling_phi as native

from interp_components.standard import Attention, Mlp, ParallelLayer

RENAME = {
    "model.embed_tokens": "embed_tokens",
    "model.layers": "layers",
    "model.final_layernorm": "norm",
    "self_attn.dense": "self_attn.o_proj",
    "mlp.fc2": "mlp.down_proj",
}
ENVOYS = {native.PhiDecoderLayer: ParallelLayer, native.PhiAttention: Attention, native.PhiMLP: Mlp}

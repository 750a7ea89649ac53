"""StarCoder2: LayerNorms and projections with biases, a window, and an MLP without a gate that is called as GPT-2's.

Source: transformers.models.starcoder2.modeling_starcoder2, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.starcoder2 import modeling_starcoder2 as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = {**llama_like.RENAME, "mlp.c_proj": "mlp.down_proj"}
ENVOYS = {native.Starcoder2DecoderLayer: Layer, native.Starcoder2Attention: Attention, native.Starcoder2MLP: Mlp}

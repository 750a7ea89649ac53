"""ERNIE 4.5: llama with rotary in interleaved pairs, and biases everywhere or nowhere.

Source: transformers.models.ernie4_5.modeling_ernie4_5, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.ernie4_5 import modeling_ernie4_5 as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.Ernie4_5DecoderLayer: Layer, native.Ernie4_5Attention: Attention, native.Ernie4_5MLP: Mlp}

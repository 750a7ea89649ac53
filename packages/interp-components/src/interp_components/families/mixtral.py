"""Mixtral: llama with a mixture of experts in the place of every MLP.

Source: transformers.models.mixtral.modeling_mixtral, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.mixtral import modeling_mixtral as native

from interp_components.standard import Attention, Layer, Moe, llama_like

RENAME = {**llama_like.RENAME, "mlp.gate": "mlp.router"}
ENVOYS = {native.MixtralDecoderLayer: Layer, native.MixtralAttention: Attention, native.MixtralSparseMoeBlock: Moe}

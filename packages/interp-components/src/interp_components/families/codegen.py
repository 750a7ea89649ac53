"""CodeGen: GPT-J with one projection for queries, values and keys, in that order, cut into four shards.

Source: transformers.models.codegen.modeling_codegen, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from transformers.models.codegen import modeling_codegen as native

from interp_components.standard import Attention, Mlp, ParallelLayer

RENAME = {
    "transformer.wte": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "attn": "self_attn",
    "attn.out_proj": "attn.o_proj",
    "ln_1": "input_layernorm",
    "mlp.fc_out": "mlp.down_proj",
}
ENVOYS = {native.CodeGenBlock: ParallelLayer, native.CodeGenAttention: Attention, native.CodeGenMLP: Mlp}


def intermediate_size(model: Any) -> int:
    """Return `n_inner`, which is 4 times the hidden size when the config leaves it open."""
    return int(model.text_config.n_inner or 4 * model.hidden_size)

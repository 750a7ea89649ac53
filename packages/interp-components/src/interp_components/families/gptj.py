"""GPT-J: attention and MLP side by side behind one norm, rotary in interleaved pairs on a part of each head.

An edit in place of `attention_input` reaches the MLP too, since both are given one tensor.
Source: transformers.models.gptj.modeling_gptj, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from transformers.models.gptj import modeling_gptj as native

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
ENVOYS = {native.GPTJBlock: ParallelLayer, native.GPTJAttention: Attention, native.GPTJMLP: Mlp}


def intermediate_size(model: Any) -> int:
    """Return `n_inner`, which is 4 times the hidden size when the config leaves it open."""
    return int(model.text_config.n_inner or 4 * model.hidden_size)

"""GPT-BigCode: GPT-2 with one head of keys and values for all queries, unless `multi_query=False`.

Source: transformers.models.gpt_bigcode.modeling_gpt_bigcode, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from transformers.models.gpt_bigcode import modeling_gpt_bigcode as native

from interp_components.standard import Attention, Layer, Mlp

RENAME = {
    "transformer.wte": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "attn": "self_attn",
    "attn.c_proj": "attn.o_proj",
    "ln_1": "input_layernorm",
    "ln_2": "post_attention_layernorm",
    "mlp.c_proj": "mlp.down_proj",
}
ENVOYS = {native.GPTBigCodeBlock: Layer, native.GPTBigCodeAttention: Attention, native.GPTBigCodeMLP: Mlp}


def intermediate_size(model: Any) -> int:
    """Return `n_inner`, which is 4 times the hidden size when the config leaves it open."""
    return int(model.text_config.n_inner or 4 * model.hidden_size)


def num_kv_heads(model: Any) -> int:
    """Return 1 where all queries share one head of keys and values."""
    return 1 if model.text_config.multi_query else int(model.num_heads)

"""GPT-BigCode: GPT-2 with one head of keys and values for all queries, unless `multi_query=False`.

Source: transformers.models.gpt_bigcode.modeling_gpt_bigcode, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from transformers.models.gpt_bigcode import modeling_gpt_bigcode as native

from interp_components.standard import Attention, Layer, Mlp, gpt2_like

RENAME = gpt2_like.RENAME
ENVOYS = {native.GPTBigCodeBlock: Layer, native.GPTBigCodeAttention: Attention, native.GPTBigCodeMLP: Mlp}

intermediate_size = gpt2_like.intermediate_size


def num_kv_heads(model: Any) -> int:
    """Return 1 where all queries share one head of keys and values."""
    return 1 if model.text_config.multi_query else int(model.num_heads)

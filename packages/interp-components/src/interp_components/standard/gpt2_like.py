"""What the decoders that are laid out like GPT-2 have in common, for their families."""

from __future__ import annotations

from typing import Any, Final

RENAME: Final[dict[str, str]] = {
    "transformer.wte": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "attn": "self_attn",
    "attn.c_proj": "attn.o_proj",
    "ln_1": "input_layernorm",
    "ln_2": "post_attention_layernorm",
    "mlp.c_proj": "mlp.down_proj",
}

PARALLEL_RENAME: Final[dict[str, str]] = {
    "transformer.wte": "embed_tokens",
    "transformer.h": "layers",
    "transformer.ln_f": "norm",
    "attn": "self_attn",
    "attn.out_proj": "attn.o_proj",
    "ln_1": "input_layernorm",
    "mlp.fc_out": "mlp.down_proj",
}
"""The names of those with attention and MLP side by side behind one norm, like GPT-J."""


def intermediate_size(model: Any) -> int:
    """Return `n_inner`, which is 4 times the hidden size when the config leaves it open."""
    # Any: the root, or whatever has its sizes.
    return int(model.text_config.n_inner or 4 * model.hidden_size)

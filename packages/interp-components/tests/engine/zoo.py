"""Eight architectures that differ in what the engine meets: layouts, in-place adds, flattened rows, modules never called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from transformers import (
    BloomConfig,
    FalconConfig,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    MixtralConfig,
    OPTConfig,
    PreTrainedConfig,
)

from tests import models

# No layer of its own head size, and as many heads of keys as of queries.
_WHOLE = {"num_key_value_heads": ...}

CONFIGS: Final[dict[str, Callable[[], PreTrainedConfig]]] = {
    "bloom": lambda: BloomConfig(
        vocab_size=models.VOCAB,
        hidden_size=models.HIDDEN_OF_HEADS,
        n_layer=models.LAYERS,
        n_head=models.HEADS,
        **models.TOKENS,
    ),
    "falcon": lambda: FalconConfig(**models.hidden_of_heads(intermediate_size=..., **_WHOLE)),
    "gemma2": lambda: Gemma2Config(**models.llama_like(sliding_window=4, query_pre_attn_scalar=models.HEAD_DIM)),
    "gpt2": lambda: GPT2Config(
        n_embd=models.HIDDEN_OF_HEADS,
        n_head=models.HEADS,
        n_layer=models.LAYERS,
        n_positions=64,
        vocab_size=models.VOCAB,
        **models.TOKENS,
    ),
    "gpt_neox": lambda: GPTNeoXConfig(**models.hidden_of_heads(**_WHOLE)),
    "llama": lambda: LlamaConfig(**models.llama_like()),
    "mixtral": lambda: MixtralConfig(**models.llama_like(num_local_experts=4, num_experts_per_tok=2)),
    "opt": lambda: OPTConfig(
        **models.hidden_of_heads(
            ffn_dim=models.INTERMEDIATE, intermediate_size=..., word_embed_proj_dim=models.HIDDEN_OF_HEADS, **_WHOLE
        )
    ),
}

# Prompts of different lengths.
LONG: Final = [3, 14, 15, 9, 26, 5]
SHORT: Final = [53, 58, 9]
OTHER: Final = [7, 30, 8, 41]

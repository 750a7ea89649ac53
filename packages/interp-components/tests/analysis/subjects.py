"""Tiny models of unlike families, and prompts for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor
from transformers import (
    BloomConfig,
    CohereConfig,
    FalconConfig,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    GraniteConfig,
    LlamaConfig,
    Olmo2Config,
    PreTrainedConfig,
)

from interp_components.model import StandardizedTransformer
from tests import models

NATIVE_SIZES = {"vocab_size": models.VOCAB, "hidden_size": models.HIDDEN_OF_HEADS, **models.TOKENS}

CONFIGS: Final[dict[str, Callable[[], PreTrainedConfig]]] = {
    "gpt2": lambda: GPT2Config(
        vocab_size=models.VOCAB,
        n_embd=models.HIDDEN_OF_HEADS,
        n_layer=models.LAYERS,
        n_head=models.HEADS,
        **models.TOKENS,
    ),
    "llama": lambda: LlamaConfig(**models.llama_like()),
    "gemma2": lambda: Gemma2Config(
        **models.llama_like(query_pre_attn_scalar=10, sliding_window=3, final_logit_softcapping=0.3)
    ),
    "granite": lambda: GraniteConfig(
        **models.hidden_of_heads(residual_multiplier=0.22, embedding_multiplier=3.0, logits_scaling=2.3)
    ),
    "olmo2": lambda: Olmo2Config(**models.hidden_of_heads()),
    "gpt_neox": lambda: GPTNeoXConfig(**models.hidden_of_heads(num_key_value_heads=...)),
    "cohere": lambda: CohereConfig(**models.hidden_of_heads(logit_scale=0.3)),
    "falcon": lambda: FalconConfig(
        **NATIVE_SIZES, num_hidden_layers=models.LAYERS, num_attention_heads=models.HEADS, ffn_hidden_size=40
    ),
    "bloom": lambda: BloomConfig(**NATIVE_SIZES, n_layer=models.LAYERS, n_head=models.HEADS),
}


def model(family: str, attention: str = "eager") -> StandardizedTransformer:
    """The tiny model of a family, of `models.LAYERS` blocks with `models.HEADS` heads."""
    return StandardizedTransformer(models.build(CONFIGS[family](), attention))


def prompts(seed: int, rows: int = 2, length: int = models.SEQ) -> Tensor:
    """Random token ids [rows, length]."""
    return torch.randint(3, models.VOCAB, (rows, length), generator=torch.Generator().manual_seed(seed))


def margin(logits: Tensor) -> Tensor:
    """A metric: one logit less another, at the last position."""
    return logits[:, -1, 5] - logits[:, -1, 11]

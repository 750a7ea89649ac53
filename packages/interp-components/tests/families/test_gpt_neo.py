"""GPT-Neo."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import GPTNeoConfig

from tests import models

from .contract import FamilyContract
from .subject import MASK_IS_AN_ARGUMENT
from .truth import Native, Recording, attention_truth, block_truth

WINDOW = 3


def config(**changes: Any) -> GPTNeoConfig:
    return GPTNeoConfig(
        vocab_size=models.VOCAB,
        hidden_size=models.HIDDEN_OF_HEADS,
        num_layers=models.LAYERS,
        num_heads=models.HEADS,
        attention_types=[[["global", "local"], 1]],
        window_size=WINDOW,
        max_position_embeddings=64,
        **{"intermediate_size": models.INTERMEDIATE, **models.TOKENS, **changes},
    )


class TestGPTNeo(FamilyContract):
    """A block that sees everything, and one with a window shorter than the input."""

    config = staticmethod(config)
    native = Native(
        embed_tokens="transformer.wte",
        layers="transformer.h",
        norm="transformer.ln_f",
        attention="attn.attention",
        down_proj="mlp.c_proj",
        resid_mid="ln_2",
    )
    has_sdpa = False
    order = MASK_IS_AN_ARGUMENT

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """Split the heads, and cut the window out of the scores beside the mask."""
        at = f"{cls.native.layers}.{layer}.attn.attention"
        query, key, value = (
            recording.calls[f"{at}.{name}_proj"].tensor.view(models.BATCH, models.SEQ, models.HEADS, -1).transpose(1, 2)
            for name in "qkv"
        )
        mask = recording.calls[at].kwargs["attention_mask"]
        visible = torch.ones(models.SEQ, models.SEQ, dtype=torch.bool).tril()
        if layer == 1:
            visible = visible.triu(1 - WINDOW)
        window = torch.zeros(()).masked_fill(~visible, torch.finfo(mask.dtype).min)
        found = attention_truth(query, key, value, mask + window, 1.0) | {"attention_mask": mask}
        return block_truth(recording, cls.native, layer) | {f"self_attn.{name}": each for name, each in found.items()}

    def test_the_mlp_is_four_times_as_wide_when_the_config_leaves_it_open(self) -> None:
        """`intermediate_size=None` is what the published checkpoints have."""
        root = models.wrap(models.build(config(intermediate_size=None)))

        assert root.intermediate_size == root.layers[0].mlp.intermediate_size == 4 * models.HIDDEN_OF_HEADS

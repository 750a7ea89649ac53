"""MPT."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers import MptConfig

from tests import models

from .contract import FamilyContract
from .truth import Native, Recording, attention_truth, block_truth


class TestMpt(FamilyContract):
    """Alibi, for a number of heads that is no power of two."""

    config = staticmethod(
        lambda: MptConfig(
            vocab_size=models.VOCAB,
            d_model=models.HIDDEN_OF_HEADS,
            n_layers=models.LAYERS,
            n_heads=models.HEADS,
            max_seq_len=64,
            **models.TOKENS,
        )
    )
    native = Native(
        embed_tokens="transformer.wte",
        layers="transformer.blocks",
        norm="transformer.norm_f",
        attention="attn",
        mlp="ffn",
        down_proj="ffn.down_proj",
        mlp_output="ffn.down_proj",
        resid_mid="norm_2",
    )
    absent: ClassVar = {"self_attn.attention_mask": "overwrites them where a boolean mask is True"}
    has_sdpa = False

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """Split the fused projection, add alibi, and overwrite what may not be seen."""
        at = f"{cls.native.layers}.{layer}.attn"
        arguments: dict[str, Any] = recording.calls[at].kwargs
        fused = recording.calls[f"{at}.Wqkv"].tensor
        query, key, value = fused.view(models.BATCH, models.SEQ, 3, models.HEADS, -1).permute(2, 0, 3, 1, 4)
        alibi = arguments["position_bias"][:, :, -models.SEQ :]
        added = alibi.masked_fill(arguments["attention_mask"].bool(), torch.finfo(fused.dtype).min)
        found = attention_truth(query, key, value, added, query.shape[-1] ** -0.5)
        del found["attention_mask"]
        return block_truth(recording, cls.native, layer) | {f"self_attn.{name}": each for name, each in found.items()}

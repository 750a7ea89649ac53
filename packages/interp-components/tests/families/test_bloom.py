"""BLOOM."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers import BloomConfig

from tests import models

from .contract import FamilyContract
from .subject import MASK_IS_AN_ARGUMENT
from .truth import Native, Recording, attention_truth, block_truth


def config(**changes: Any) -> BloomConfig:
    return BloomConfig(
        vocab_size=models.VOCAB,
        hidden_size=models.HIDDEN_OF_HEADS,
        n_layer=models.LAYERS,
        n_head=models.HEADS,
        **models.TOKENS,
        **changes,
    )


class TestBloom(FamilyContract):
    """The architecture as it is published."""

    config = staticmethod(config)
    native = Native(
        embed_tokens="transformer.word_embeddings",
        layers="transformer.h",
        norm="transformer.ln_f",
        attention="self_attention",
        down_proj="mlp.dense_4h_to_h",
        attention_output="self_attention.dense",
        mlp_output="mlp.dense_4h_to_h",
    )
    has_sdpa = False
    order = MASK_IS_AN_ARGUMENT

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """Split the fused projection, and add alibi beside the mask."""
        at = f"{cls.native.layers}.{layer}.self_attention"
        call = recording.calls[at]
        fused = recording.calls[f"{at}.query_key_value"].tensor
        query, key, value = fused.view(models.BATCH, models.SEQ, models.HEADS, 3, -1).permute(3, 0, 2, 1, 4)
        mask = call.kwargs["attention_mask"]
        alibi = call.kwargs["alibi"].view(models.BATCH, models.HEADS, 1, -1)
        found = attention_truth(query, key, value, mask + alibi, query.shape[-1] ** -0.5) | {"attention_mask": mask}
        return block_truth(recording, cls.native, layer) | {f"self_attn.{name}": each for name, each in found.items()}


class TestResidualBehindTheNorm(TestBloom):
    """Contributions are added to what the norms return, so each norm's output is used twice."""

    config = staticmethod(lambda: config(apply_residual_connection_post_layernorm=True))
    spreads = frozenset({"self_attn.attention_input", "mlp.mlp_input"})

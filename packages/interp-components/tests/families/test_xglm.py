"""XGLM."""

from __future__ import annotations

from torch import Tensor
from transformers import XGLMConfig

from tests import models

from .contract import FamilyContract
from .subject import MASK_IS_AN_ARGUMENT
from .truth import Native, Recording, attention_truth, block_truth


class TestXGLM(FamilyContract):
    """The decoder, without an encoder to attend to."""

    config = staticmethod(
        lambda: XGLMConfig(
            vocab_size=models.VOCAB,
            d_model=models.HIDDEN_OF_HEADS,
            ffn_dim=models.INTERMEDIATE,
            num_layers=models.LAYERS,
            attention_heads=models.HEADS,
            max_position_embeddings=64,
            **models.TOKENS,
        )
    )
    native = Native(
        norm="model.layer_norm",
        mlp="fc1",
        down_proj="fc2",
        mlp_output="fc2",
        resid_mid="final_layer_norm",
    )
    has_sdpa = False
    order = MASK_IS_AN_ARGUMENT

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """Split the heads; the scale is part of the queries."""
        at = f"{cls.native.layers}.{layer}.self_attn"
        query, key, value = (
            recording.calls[f"{at}.{name}_proj"].tensor.view(models.BATCH, models.SEQ, models.HEADS, -1).transpose(1, 2)
            for name in "qkv"
        )
        scaled = query * query.shape[-1] ** -0.5
        found = attention_truth(scaled, key, value, recording.calls[at].kwargs["attention_mask"], 1.0)
        return block_truth(recording, cls.native, layer) | {f"self_attn.{name}": each for name, each in found.items()}

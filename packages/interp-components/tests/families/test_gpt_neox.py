"""GPT-NeoX, with attention and MLP side by side and one after the other."""

from __future__ import annotations

from typing import Any, ClassVar

from transformers import GPTNeoXConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


def config(**changes: Any) -> GPTNeoXConfig:
    return GPTNeoXConfig(**models.hidden_of_heads(num_key_value_heads=..., **changes))


def native(resid_mid: str | None) -> Native:
    return Native(
        embed_tokens="gpt_neox.embed_in",
        layers="gpt_neox.layers",
        norm="gpt_neox.final_layer_norm",
        attention="attention",
        down_proj="mlp.dense_4h_to_h",
        resid_mid=resid_mid,
    )


class TestParallel(FamilyContract):
    """Two norms that both read the stream that enters the block."""

    config = staticmethod(config)
    native = native(None)
    absent: ClassVar = {"resid_mid": "both read the stream that enters it"}


class TestSequential(FamilyContract):
    """The option of a few models."""

    config = staticmethod(lambda: config(use_parallel_residual=False))
    native = native("post_attention_layernorm")

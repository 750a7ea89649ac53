"""GPT-BigCode, with one head of keys and values and with one for each of the queries."""

from __future__ import annotations

from typing import Any

from transformers import GPTBigCodeConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


def config(**changes: Any) -> GPTBigCodeConfig:
    return GPTBigCodeConfig(
        vocab_size=models.VOCAB,
        n_embd=models.HIDDEN_OF_HEADS,
        n_layer=models.LAYERS,
        n_head=models.HEADS,
        n_positions=64,
        n_inner=models.INTERMEDIATE,
        **models.TOKENS,
        **changes,
    )


class TestMultiQuery(FamilyContract):
    """The architecture as it is mostly configured."""

    config = staticmethod(config)
    native = Native(
        embed_tokens="transformer.wte",
        layers="transformer.h",
        norm="transformer.ln_f",
        attention="attn",
        down_proj="mlp.c_proj",
        resid_mid="ln_2",
    )


class TestMultiHead(TestMultiQuery):
    """Queries, keys and values side by side in each head's part of the projection."""

    config = staticmethod(lambda: config(multi_query=False))

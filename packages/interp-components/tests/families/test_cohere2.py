"""Cohere 2."""

from __future__ import annotations

from typing import ClassVar

from transformers import Cohere2Config

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestCohere2(FamilyContract):
    """A block with a window shorter than the input, and one that sees everything."""

    config = staticmethod(
        lambda: Cohere2Config(
            **models.llama_like(sliding_window=3, logit_scale=0.25, layer_types=["sliding_attention", "full_attention"])
        )
    )
    native = Native(resid_mid=None)
    absent: ClassVar = {"resid_mid": "both read the stream that enters it"}
    spreads = frozenset({"self_attn.attention_input", "mlp.mlp_input"})
    cached = (models.SEQ, 3, 3)

"""Gemma 2."""

from __future__ import annotations

from transformers import Gemma2Config

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestGemma2(FamilyContract):
    """Windows shorter than the input, and caps low enough to bend what they cap."""

    config = staticmethod(
        lambda: Gemma2Config(
            **models.llama_like(
                query_pre_attn_scalar=10, sliding_window=3, attn_logit_softcapping=0.5, final_logit_softcapping=0.3
            )
        )
    )
    native = Native(
        attention_output="post_attention_layernorm",
        mlp_output="post_feedforward_layernorm",
        resid_mid="pre_feedforward_layernorm",
    )
    has_sdpa = False
    cached = (models.SEQ, 3, 3)


class TestWithoutCaps(TestGemma2):
    """Both caps can be left out."""

    config = staticmethod(
        lambda: Gemma2Config(
            **models.llama_like(sliding_window=3, attn_logit_softcapping=None, final_logit_softcapping=None)
        )
    )

"""Qwen2."""

from __future__ import annotations

from transformers import Qwen2Config

from tests import models

from .contract import FamilyContract


class TestQwen2(FamilyContract):
    """A window in one block of two."""

    config = staticmethod(
        lambda: Qwen2Config(
            **models.hidden_of_heads(
                use_sliding_window=True, sliding_window=3, layer_types=["sliding_attention", "full_attention"]
            )
        )
    )
    cached = (models.SEQ, 3, 3)

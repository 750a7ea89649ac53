"""OLMo 3."""

from __future__ import annotations

from transformers import Olmo3Config

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestOlmo3(FamilyContract):
    """Norms behind the parts alone, and a window in one block of two."""

    config = staticmethod(
        lambda: Olmo3Config(
            **models.hidden_of_heads(sliding_window=3, layer_types=["sliding_attention", "full_attention"])
        )
    )
    native = Native(
        attention_output="post_attention_layernorm", mlp_output="post_feedforward_layernorm", resid_mid="mlp"
    )
    cached = (models.SEQ, 3, 3)

"""Cohere."""

from __future__ import annotations

from typing import ClassVar

from transformers import CohereConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestCohere(FamilyContract):
    """Norms on queries and keys, and scaled logits."""

    config = staticmethod(lambda: CohereConfig(**models.hidden_of_heads(use_qk_norm=True, logit_scale=0.25)))
    native = Native(resid_mid=None)
    absent: ClassVar = {"resid_mid": "both read the stream that enters it"}
    spreads = frozenset({"self_attn.attention_input", "mlp.mlp_input"})

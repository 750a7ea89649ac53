"""Phi."""

from __future__ import annotations

from typing import ClassVar

from transformers import PhiConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestPhi(FamilyContract):
    """Grouped heads, with norms on queries and keys."""

    config = staticmethod(lambda: PhiConfig(**models.hidden_of_heads(qk_layernorm=True)))
    native = Native(norm="model.final_layernorm", down_proj="mlp.fc2", resid_mid=None)
    absent: ClassVar = {"resid_mid": "both read the stream that enters it"}
    spreads = frozenset({"self_attn.attention_input", "mlp.mlp_input"})

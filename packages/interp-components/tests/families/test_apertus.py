"""Apertus."""

from __future__ import annotations

from transformers import ApertusConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestApertus(FamilyContract):
    """An MLP without a gate, and norms under names of their own."""

    config = staticmethod(lambda: ApertusConfig(**models.hidden_of_heads()))
    native = Native(resid_mid="feedforward_layernorm")

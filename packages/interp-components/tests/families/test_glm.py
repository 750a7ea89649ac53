"""GLM."""

from __future__ import annotations

from transformers import GlmConfig

from tests import models

from .contract import FamilyContract


class TestGlm(FamilyContract):
    """Rotary on half of each head."""

    config = staticmethod(lambda: GlmConfig(**models.llama_like()))

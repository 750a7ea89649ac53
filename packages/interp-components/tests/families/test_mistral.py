"""Mistral."""

from __future__ import annotations

from transformers import MistralConfig

from tests import models

from .contract import FamilyContract


class TestMistral(FamilyContract):
    """A window shorter than the input, in every block."""

    config = staticmethod(lambda: MistralConfig(**models.llama_like(sliding_window=3)))
    cached = (models.SEQ, 3, 3)

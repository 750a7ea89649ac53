"""Qwen3."""

from __future__ import annotations

from transformers import Qwen3Config

from tests import models

from .contract import FamilyContract


class TestQwen3(FamilyContract):
    """Normed queries and keys."""

    config = staticmethod(lambda: Qwen3Config(**models.llama_like()))

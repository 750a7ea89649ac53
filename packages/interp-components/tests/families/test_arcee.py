"""Arcee."""

from __future__ import annotations

from transformers import ArceeConfig

from tests import models

from .contract import FamilyContract


class TestArcee(FamilyContract):
    """An MLP without a gate."""

    config = staticmethod(lambda: ArceeConfig(**models.llama_like()))

"""Seed-OSS."""

from __future__ import annotations

from transformers import SeedOssConfig

from tests import models

from .contract import FamilyContract


class TestSeedOss(FamilyContract):
    """Biases on queries, keys and values."""

    config = staticmethod(lambda: SeedOssConfig(**models.llama_like()))

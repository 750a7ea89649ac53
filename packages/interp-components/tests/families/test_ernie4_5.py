"""ERNIE 4.5."""

from __future__ import annotations

from transformers import Ernie4_5Config

from tests import models

from .contract import FamilyContract


class TestErnie45(FamilyContract):
    """Biases on every projection."""

    config = staticmethod(lambda: Ernie4_5Config(**models.llama_like(use_bias=True)))

"""Nemotron."""

from __future__ import annotations

from transformers import NemotronConfig

from tests import models

from .contract import FamilyContract


class TestNemotron(FamilyContract):
    """An MLP without a gate, and rotary on half of each head."""

    config = staticmethod(lambda: NemotronConfig(**models.llama_like()))

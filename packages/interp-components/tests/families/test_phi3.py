"""Phi-3."""

from __future__ import annotations

from transformers import Phi3Config

from tests import models

from .contract import FamilyContract


class TestPhi3(FamilyContract):
    """Fused projections and a window."""

    config = staticmethod(lambda: Phi3Config(**models.hidden_of_heads(sliding_window=3)))
    cached = (models.SEQ, 3, 3)

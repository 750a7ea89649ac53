"""Helium."""

from __future__ import annotations

from transformers import HeliumConfig

from tests import models

from .contract import FamilyContract


class TestHelium(FamilyContract):
    """Rotary in interleaved pairs; the heads together are as wide as the residual stream, whatever `head_dim` says."""

    config = staticmethod(
        lambda: HeliumConfig(**models.hidden_of_heads(head_dim=models.HIDDEN_OF_HEADS // models.HEADS))
    )

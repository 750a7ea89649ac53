"""StarCoder2."""

from __future__ import annotations

from transformers import Starcoder2Config

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestStarcoder2(FamilyContract):
    """A window, and an MLP without a gate."""

    config = staticmethod(lambda: Starcoder2Config(**models.hidden_of_heads(sliding_window=3)))
    native = Native(down_proj="mlp.c_proj")
    cached = (models.SEQ, 3, 3)

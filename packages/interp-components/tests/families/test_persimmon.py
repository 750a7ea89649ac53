"""Persimmon."""

from __future__ import annotations

from transformers import PersimmonConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestPersimmon(FamilyContract):
    """A head of keys and values for each of the queries."""

    config = staticmethod(lambda: PersimmonConfig(**models.hidden_of_heads(num_key_value_heads=...)))
    native = Native(norm="model.final_layernorm", down_proj="mlp.dense_4h_to_h")

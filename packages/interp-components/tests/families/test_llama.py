"""Llama, and what its layout has in all its likes."""

from __future__ import annotations

from transformers import LlamaConfig

from tests import models

from .contract import FamilyContract


class TestLlama(FamilyContract):
    """Grouped heads whose width is not the residual stream's."""

    config = staticmethod(lambda: LlamaConfig(**models.llama_like()))


class TestWithBiases(FamilyContract):
    """Projections with biases, and one head of keys and values for all queries."""

    config = staticmethod(
        lambda: LlamaConfig(**models.llama_like(attention_bias=True, mlp_bias=True, num_key_value_heads=1))
    )

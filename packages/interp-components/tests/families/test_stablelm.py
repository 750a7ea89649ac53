"""StableLM, with attention and MLP one after the other and side by side."""

from __future__ import annotations

from typing import ClassVar

from transformers import StableLmConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestSequential(FamilyContract):
    """The architecture as it is mostly configured."""

    config = staticmethod(lambda: StableLmConfig(**models.hidden_of_heads()))


class TestParallel(FamilyContract):
    """One norm for both parts, and norms on each head's queries and keys."""

    config = staticmethod(
        lambda: StableLmConfig(**models.hidden_of_heads(use_parallel_residual=True, qk_layernorm=True))
    )
    native = Native(resid_mid=None)
    absent: ClassVar = {"resid_mid": "both read the stream that enters it"}
    spreads = frozenset({"self_attn.attention_input", "mlp.mlp_input"})

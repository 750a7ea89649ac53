"""OLMo 2."""

from __future__ import annotations

from transformers import Olmo2Config

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestOlmo2(FamilyContract):
    """Norms behind the parts alone."""

    config = staticmethod(lambda: Olmo2Config(**models.hidden_of_heads()))
    native = Native(
        attention_output="post_attention_layernorm", mlp_output="post_feedforward_layernorm", resid_mid="mlp"
    )

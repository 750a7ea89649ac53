"""GLM-4."""

from __future__ import annotations

from transformers import Glm4Config

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestGlm4(FamilyContract):
    """Norms in front of and behind the parts."""

    config = staticmethod(lambda: Glm4Config(**models.llama_like()))
    native = Native(attention_output="post_self_attn_layernorm", mlp_output="post_mlp_layernorm")

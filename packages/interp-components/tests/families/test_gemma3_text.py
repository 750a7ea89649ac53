"""Gemma 3."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import Gemma3TextConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


class TestGemma3(FamilyContract):
    """A window in one block of two."""

    config = staticmethod(
        lambda: Gemma3TextConfig(
            **models.llama_like(
                query_pre_attn_scalar=10, sliding_window=3, layer_types=["sliding_attention", "full_attention"]
            )
        )
    )
    native = Native(
        attention_output="post_attention_layernorm",
        mlp_output="post_feedforward_layernorm",
        resid_mid="pre_feedforward_layernorm",
    )
    cached = (models.SEQ, 3, 3)

    def test_capped_logits_are_projected_capped(self) -> None:
        """A config may ask for the cap that Gemma 2 has."""
        capped = Gemma3TextConfig(**models.llama_like(final_logit_softcapping=0.3))
        root = models.wrap(models.build(capped))
        seen: list[Tensor] = []
        logits = models.run(root, lambda: seen.append(root.layers[-1].layer_output.clone()))
        with torch.no_grad():
            projected = root.project_on_vocab(seen[0])

        torch.testing.assert_close(projected, logits)

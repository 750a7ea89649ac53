"""EXAONE 4."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import Exaone4Config

from interp_components.standard import Root
from tests import models

from .contract import FamilyContract
from .truth import Native, Recording


class TestExaone4(FamilyContract):
    """A window in one block of two, and no rotary in the other."""

    config = staticmethod(
        lambda: Exaone4Config(
            **models.hidden_of_heads(sliding_window=3, layer_types=["sliding_attention", "full_attention"])
        )
    )
    native = Native(
        attention_output="post_attention_layernorm", mlp_output="post_feedforward_layernorm", resid_mid="mlp"
    )
    cached = (models.SEQ, 3, 3)

    def test_a_block_without_positions_attends_by_what_is_projected(self, root: Root, recording: Recording) -> None:
        """Its queries are those of the norm, not rotated; those of the other block are."""
        seen: list[Tensor] = []
        models.run(root, lambda: seen.extend([layer.self_attn.attention_queries for layer in root.layers]))
        projected = [recording.calls[f"model.layers.{layer}.self_attn.q_norm"].tensor for layer in range(models.LAYERS)]

        assert [torch.equal(*pair) for pair in zip(seen, projected, strict=True)] == [False, True]

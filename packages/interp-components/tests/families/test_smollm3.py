"""SmolLM3."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import SmolLM3Config

from interp_components.standard import Root
from tests import models

from .contract import FamilyContract
from .truth import Recording


class TestSmolLM3(FamilyContract):
    """One block of two without rotary."""

    config = staticmethod(lambda: SmolLM3Config(**models.hidden_of_heads(no_rope_layers=[1, 0])))

    def test_a_block_without_positions_attends_by_what_is_projected(self, root: Root, recording: Recording) -> None:
        """Its queries are those of the projection, not rotated; those of the other block are."""
        seen: list[Tensor] = []
        models.run(root, lambda: seen.extend([layer.self_attn.attention_queries for layer in root.layers]))
        projected = [recording.calls[f"model.layers.{layer}.self_attn.q_proj"].tensor for layer in range(models.LAYERS)]
        heads = [each.unflatten(-1, (models.HEADS, -1)).transpose(1, 2) for each in projected]

        assert [torch.equal(*pair) for pair in zip(seen, heads, strict=True)] == [False, True]

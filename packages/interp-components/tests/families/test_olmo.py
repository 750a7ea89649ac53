"""OLMo."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import OlmoConfig

from interp_components.standard import Root
from tests import models

from .contract import FamilyContract


class TestOlmo(FamilyContract):
    """A clip low enough to change most of what it clips."""

    config = staticmethod(lambda: OlmoConfig(**models.hidden_of_heads(clip_qkv=0.05)))

    def test_the_values_are_clipped(self, root: Root) -> None:
        """They are read behind the clip, which many of them reach."""
        seen: list[Tensor] = []
        models.run(root, lambda: seen.append(root.layers[0].self_attn.attention_values))

        assert seen[0].abs().max() == torch.tensor(0.05)


class TestWithoutClip(FamilyContract):
    """What most of the checkpoints have."""

    config = staticmethod(lambda: OlmoConfig(**models.hidden_of_heads()))

"""Gemma."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import GemmaConfig

from interp_components.standard import Root
from tests import models

from .contract import FamilyContract


class TestGemma(FamilyContract):
    """Scaled embeddings and norms by 1 + weight."""

    config = staticmethod(lambda: GemmaConfig(**models.llama_like()))

    def test_the_embeddings_are_scaled_as_they_enter_the_first_block(self, root: Root) -> None:
        """The scale is within `token_embeddings`."""
        seen: list[Tensor] = []
        models.run(root, lambda: seen.extend([root.token_embeddings, root.layers[0].layer_input]))

        assert torch.equal(seen[0], seen[1])

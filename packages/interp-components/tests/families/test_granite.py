"""Granite."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import GraniteConfig

from interp_components.standard import Root
from tests import models

from .contract import FamilyContract
from .truth import Recording, block_truth

MULTIPLIER = 0.22  # dividing by it again does not give every float back


class TestGranite(FamilyContract):
    """Multipliers of which none is a power of two."""

    config = staticmethod(
        lambda: GraniteConfig(
            **models.hidden_of_heads(
                residual_multiplier=MULTIPLIER, embedding_multiplier=3.0, logits_scaling=2.3, attention_multiplier=0.4
            )
        )
    )

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """Contributions are what the parts return, times the multiplier."""
        found = block_truth(recording, cls.native, layer)
        return found | {name: MULTIPLIER * found[name] for name in ("self_attn.attention_output", "mlp.mlp_output")}

    def test_the_embeddings_are_scaled_behind_the_embedding(self, root: Root) -> None:
        """`token_embeddings` are not yet what enters the first block."""
        seen: list[Tensor] = []
        models.run(root, lambda: seen.extend([root.token_embeddings, root.layers[0].layer_input]))

        torch.testing.assert_close(seen[1], 3.0 * seen[0])

"""OPT, with norms in front of the parts of a block and behind them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import OPTConfig

from interp_components.errors import Unavailable
from interp_components.standard import Root
from tests import models

from .contract import FamilyContract
from .truth import Native, Recording, block_truth


def config(**changes: Any) -> OPTConfig:
    return OPTConfig(
        **models.hidden_of_heads(
            ffn_dim=models.INTERMEDIATE,
            intermediate_size=...,
            num_key_value_heads=...,
            **{"word_embed_proj_dim": models.HIDDEN_OF_HEADS, **changes},
        )
    )


class TestOPT(FamilyContract):
    """Norms in front."""

    config = staticmethod(config)
    native = Native(
        embed_tokens="model.decoder.embed_tokens",
        layers="model.decoder.layers",
        norm="model.decoder.final_layer_norm",
        mlp="fc1",
        down_proj="fc2",
        mlp_output="fc2",
        resid_mid="final_layer_norm",
    )

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """The block runs its second half on one list of tokens."""
        found = block_truth(recording, cls.native, layer)
        return {
            name: value.view(models.BATCH, models.SEQ, -1) if value.ndim == 2 else value
            for name, value in found.items()
        }


class TestNormsBehind(TestOPT):
    """350M: norms behind attention and MLP, none behind the last block, embeddings narrower than the stream."""

    config = staticmethod(lambda: config(do_layer_norm_before=False, word_embed_proj_dim=models.HIDDEN))

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """Between the parts the stream has passed the norm behind attention."""
        middle = recording.calls[f"{cls.native.layers}.{layer}.self_attn_layer_norm"].tensor
        return super().truth(recording, layer) | {"resid_mid": middle}

    @pytest.mark.parametrize("value", ["token_embeddings", "logits"])
    def test_a_root_value_is_what_plain_hooks_see(self, root: Root, recording: Recording, value: str) -> None:
        """Embeddings in their own width, and logits; the last norm is not there."""
        seen: list[Tensor] = []
        models.run(root, lambda: seen.append(getattr(root, value).clone()))
        expected = {"token_embeddings": recording.calls[self.native.embed_tokens].tensor, "logits": recording.logits}

        assert torch.equal(seen[0], expected[value])

    def test_there_is_no_last_norm(self, root: Root) -> None:
        """The error says so, and what to read."""
        with pytest.raises(Unavailable, match="no norm behind its blocks; read the last block's layer_output"):
            models.run(root, lambda: root.final_norm_output)

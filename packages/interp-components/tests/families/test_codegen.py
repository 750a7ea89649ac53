"""CodeGen."""

from __future__ import annotations

from typing import Any, ClassVar

from transformers import CodeGenConfig

from tests import models

from .contract import FamilyContract
from .truth import Native


def config(**changes: Any) -> CodeGenConfig:
    return CodeGenConfig(
        vocab_size=models.VOCAB,
        n_embd=models.HIDDEN_OF_HEADS,
        n_layer=models.LAYERS,
        n_head=models.HEADS,
        n_positions=64,
        rotary_dim=4,
        **{"n_inner": models.INTERMEDIATE, **models.TOKENS, **changes},
    )


class TestCodeGen(FamilyContract):
    """Rotary on half of each head."""

    config = staticmethod(config)
    native = Native(
        embed_tokens="transformer.wte",
        layers="transformer.h",
        norm="transformer.ln_f",
        attention="attn",
        down_proj="mlp.fc_out",
        resid_mid=None,
    )
    absent: ClassVar = {"resid_mid": "both read the stream that enters it"}
    spreads = frozenset({"self_attn.attention_input", "mlp.mlp_input"})

    def test_the_mlp_is_four_times_as_wide_when_the_config_leaves_it_open(self) -> None:
        """`n_inner=None` is what the published checkpoints have."""
        root = models.wrap(models.build(config(n_inner=None)))

        assert root.intermediate_size == root.layers[0].mlp.intermediate_size == 4 * models.HIDDEN_OF_HEADS

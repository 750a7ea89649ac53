"""GPT-2."""

from __future__ import annotations

from typing import Any, ClassVar

from transformers import GPT2Config

from tests import models

from .contract import FamilyContract
from .truth import Native


def config(**changes: Any) -> GPT2Config:
    return GPT2Config(
        vocab_size=models.VOCAB,
        n_embd=models.HIDDEN_OF_HEADS,
        n_layer=models.LAYERS,
        n_head=models.HEADS,
        n_positions=64,
        **{"n_inner": models.INTERMEDIATE, **models.TOKENS, **changes},
    )


NATIVE = Native(
    embed_tokens="transformer.wte",
    layers="transformer.h",
    norm="transformer.ln_f",
    attention="attn",
    down_proj="mlp.c_proj",
    resid_mid="ln_2",
)


class TestGPT2(FamilyContract):
    """The architecture as it is mostly configured."""

    config = staticmethod(config)
    native = NATIVE

    def test_the_mlp_is_four_times_as_wide_when_the_config_leaves_it_open(self) -> None:
        """`n_inner=None` is what the published checkpoints have."""
        root = models.wrap(models.build(config(n_inner=None)))

        assert root.intermediate_size == root.layers[0].mlp.intermediate_size == 4 * models.HIDDEN_OF_HEADS


class TestScaledByLayer(FamilyContract):
    """Scores divided by the number of the layer as well."""

    config = staticmethod(lambda: config(scale_attn_by_inverse_layer_idx=True))
    native = NATIVE


class TestReorderAndUpcast(FamilyContract):
    """An eager forward that computes attention by itself; the fused kernels do not know the option."""

    config = staticmethod(lambda: config(reorder_and_upcast_attn=True))
    native = NATIVE
    absent: ClassVar = {
        f"self_attn.attention_{name}": "reorder_and_upcast_attn=False"
        for name in ("queries", "keys", "values", "mask", "scores", "probabilities", "head_outputs")
    }

"""One architecture under test: its config, what it has and lacks, and the tiny model that the contract runs.

A family's file subclasses `contract.FamilyContract` and gives the config and, where the architecture is not llama in all
but name, how it calls its parts (`native`), which values it does not have (`absent`), and its own recomputation (`truth`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from interp_components.errors import Unavailable
from interp_components.properties import EProperty
from interp_components.standard import Root
from tests import models

from .truth import Native, Recording, block_truth

ROOT_VALUES = ("token_embeddings", "final_norm_output", "logits")
BLOCK_VALUES = (
    "layer_input",
    "self_attn.attention_input",
    "self_attn.attention_queries",
    "self_attn.attention_keys",
    "self_attn.attention_values",
    "self_attn.attention_mask",
    "self_attn.attention_scores",
    "self_attn.attention_probabilities",
    "self_attn.attention_head_outputs",
    "self_attn.attention_output",
    "resid_mid",
    "mlp.mlp_input",
    "mlp.mlp_activations",
    "mlp.mlp_output",
    "layer_output",
)
MASK_IS_AN_ARGUMENT = (
    *BLOCK_VALUES[:2],
    "self_attn.attention_mask",
    *(name for name in BLOCK_VALUES[2:] if name != "self_attn.attention_mask"),
)
"""The order where attention is written out: the mask is an argument of the module, not of a call inside it."""
ATTENTION_VALUES = tuple(
    f"self_attn.attention_{name}"
    for name in ("queries", "keys", "values", "mask", "scores", "probabilities", "head_outputs")
)
EAGER_ONLY = ("self_attn.attention_mask", "self_attn.attention_scores", "self_attn.attention_probabilities")

# Recomputed in another order of operations than the model's, in float32 with values of order 1 to 10.
RECOMPUTED = {"rtol": 1e-4, "atol": 1e-5}


class FamilySubject:
    """What the tests of a family are given."""

    config: ClassVar[Callable[[], PreTrainedConfig]]
    """Builds the config, as a staticmethod."""
    model_class: ClassVar[Any] = None
    """The class to build, where the config alone does not say it."""
    native: ClassVar[Native] = Native()
    absent: ClassVar[dict[str, str]] = {}
    """Values, as in `BLOCK_VALUES`, that the family does not have under eager attention: a part of the reason of each."""
    has_sdpa: ClassVar[bool] = True
    """Whether the architecture can be loaded with sdpa at all."""
    absent_under_sdpa: ClassVar[dict[str, str]] = dict.fromkeys(EAGER_ONLY, "attn_implementation='eager'")
    """Values that are there under eager attention only."""
    differs_under_sdpa: ClassVar[dict[str, str]] = {}
    """Attention values that the model itself computes otherwise under sdpa, and why."""
    spreads: ClassVar[frozenset[str]] = frozenset()
    """Values whose tensor the model also uses elsewhere, so that an edit in place reaches further than an assignment."""
    cached: ClassVar[tuple[int, ...]] = (models.SEQ, models.SEQ + 1, models.SEQ + 2)
    """How many keys the first block has at each step of a generation; after the prompt, no more than its window."""
    row_sums: ClassVar[bool] = True
    """Whether the rows of a pattern sum to 1: nothing is attended to that is no position."""

    order: ClassVar[tuple[str, ...]] = BLOCK_VALUES
    """The values in the order in which the model comes to them."""

    @classmethod
    def present(cls) -> list[str]:
        """The values of a block that the family has under eager attention."""
        return [name for name in BLOCK_VALUES if name not in cls.absent]

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """The values of one block, recomputed; override to add what is not on the attention interface."""
        return block_truth(recording, cls.native, layer)

    @classmethod
    def axis_sizes(cls, root: Root) -> dict[str, set[int]]:
        """The sizes that an axis may have by its name."""
        return {
            "batch": {models.BATCH},
            "seq": {models.SEQ},
            "query": {models.SEQ},
            "key": {models.SEQ},
            "hidden": {root.hidden_size},
            "num_heads": {root.num_heads},
            "num_kv_heads": {root.num_kv_heads},
            "head_dim": {root.head_dim},
            "qk_head_dim": {root.qk_head_dim},
            "intermediate": {root.intermediate_size},
        }

    @classmethod
    def built(cls, attention: str = "eager") -> PreTrainedModel:
        """The tiny model."""
        model_class = {} if cls.model_class is None else {"model_class": cls.model_class}
        return models.build(cls.config(), attention, **model_class)

    @pytest.fixture(scope="class")
    @classmethod
    def root(cls) -> Root:
        """The model under standard names."""
        return models.wrap(cls.built())

    @pytest.fixture(scope="class")
    @classmethod
    def sdpa_root(cls) -> Root:
        """The same weights with the fused kernel."""
        return models.wrap(cls.built("sdpa"))

    @pytest.fixture(scope="class")
    @classmethod
    def recording(cls, root: Root) -> Recording:
        """What a forward without any of us does."""
        return Recording(root._module, models.inputs())


def at(root: Root, layer: int, value: str) -> tuple[Any, str]:
    """The envoy that carries a value of a block, and the value's name there."""
    part, _, name = value.rpartition(".")
    block = root.layers[layer]
    return (getattr(block, part) if part else block), name


def descriptor_of(host: Any, name: str) -> EProperty:
    descriptor: EProperty = getattr(type(host), name)
    return descriptor


def value_of(root: Root, host: Any, name: str, padded: bool = True) -> tuple[Tensor, Tensor]:
    """What a block reads, and the logits of its run."""
    seen: list[Tensor] = []
    logits = models.run(root, lambda: seen.append(getattr(host, name).clone()), padded=padded)
    return seen[0], logits


def refusal(root: Root, host: Any, name: str) -> str:
    """What a block is told when it reads a value that is not there."""
    with pytest.raises(Unavailable) as caught:
        models.run(root, lambda: getattr(host, name))
    return str(caught.value)

"""What every family keeps: `class TestMistral(FamilyContract)` runs all of it on a tiny random model.

A family's file gives the config and, where the architecture is not llama in all but name, how it calls its parts
(`native`), which values it does not have (`absent`), and its own recomputation (`truth`). What is its own besides goes
into tests of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from interp_components.errors import Unavailable
from interp_components.model import StandardizedTransformer
from interp_components.properties import EProperty
from interp_components.standard import Layer, Root
from tests import models

from .truth import Native, Recording, block_truth, root_truth

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


class FamilyContract:
    """The suite; a subclass is one architecture, or one branch of it that moves a value."""

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

    # What the tests are given

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

    # Reading

    @pytest.mark.parametrize("value", ROOT_VALUES)
    def test_a_root_value_is_what_plain_hooks_see(self, root: Root, recording: Recording, value: str) -> None:
        """Embeddings, last norm and logits, and reading them changes nothing."""
        read, logits = _read(root, root, value)

        assert torch.equal(read, root_truth(recording, self.native)[value])
        assert torch.equal(logits, recording.logits)

    @pytest.mark.parametrize("layer", range(models.LAYERS))
    def test_a_value_is_what_it_is_by_plain_pytorch(
        self, root: Root, recording: Recording, present: str, layer: int
    ) -> None:
        """Recorded by hooks, or recomputed from what hooks recorded."""
        read, _ = _read(root, *_at(root, layer, present))

        torch.testing.assert_close(read, self.truth(recording, layer)[present], **RECOMPUTED)

    def test_one_block_reads_all_values(self, root: Root, recording: Recording) -> None:
        """In the order of the forward, each as it is when it is read alone."""
        names = [name for name in self.order if name in self.present()]
        seen: list[Tensor] = []
        models.run(root, lambda: seen.extend(getattr(*_at(root, 0, name)).clone() for name in names))
        truth = self.truth(recording, 0)

        torch.testing.assert_close(seen, [truth[name] for name in names], **RECOMPUTED)

    def test_a_read_leaves_the_run_bit_identical(self, root: Root, recording: Recording, present: str) -> None:
        """The model computes the same bits with a value read as without us."""
        _, logits = _read(root, *_at(root, 0, present))

        assert torch.equal(logits, recording.logits)

    def test_a_value_has_the_layout_it_says(self, root: Root, present: str) -> None:
        """Rank and kind of number are the layout's, and each axis has the size that its name has elsewhere."""
        host, name = _at(root, 0, present)
        descriptor = _descriptor(host, name)
        read, _ = _read(root, host, name)
        sizes = self.axis_sizes(root)
        sizes["num_heads"] = {*sizes["num_heads"], 1} if name == "attention_mask" else sizes["num_heads"]

        assert isinstance(read, descriptor.layout)
        assert [size in sizes[axis] for axis, size in zip(descriptor.dims, read.shape, strict=True)] == [
            True
        ] * read.ndim

    @pytest.mark.parametrize("name", ["attention_keys", "attention_values"])
    def test_keys_and_values_come_out_of_the_cache(self, name: str) -> None:
        """At each step of a generation they are those of all tokens so far that the block can see."""
        if f"self_attn.{name}" in self.absent:
            pytest.skip("the family does not have them")
        model = StandardizedTransformer(self.built())
        seen: list[int] = []
        with model.generate(models.inputs(padded=False), max_new_tokens=3, min_new_tokens=3) as tracer:
            for _ in tracer.iter[:3]:
                seen += [getattr(model.layers[0].self_attn, name).shape[2]]

        assert tuple(seen) == self.cached

    def test_a_pattern_is_a_distribution_over_what_may_be_seen(self, root: Root) -> None:
        """Rows sum to 1, or to less with a sink, and nothing looks ahead."""
        if "self_attn.attention_probabilities" in self.absent:
            pytest.skip("the family has no pattern")
        pattern, _ = _read(root, root.layers[0].self_attn, "attention_probabilities")
        ahead = torch.triu(torch.ones(models.SEQ, models.SEQ, dtype=torch.bool), diagonal=1)

        # A row of the padding may look nowhere, and then looks everywhere alike.
        assert bool((pattern[0][:, ahead] == 0).all())
        assert bool(torch.allclose(pattern.sum(-1), torch.ones(())) is self.row_sums)

    # Writing

    def test_writing_what_was_read_changes_nothing(self, root: Root, recording: Recording, present: str) -> None:
        """An assigned copy of the value leaves every bit as it was."""
        host, name = _at(root, 0, present)

        assert torch.equal(models.run(root, lambda: _edit(host, name, Tensor.clone)), recording.logits)

    def test_a_write_moves_the_logits(self, root: Root, recording: Recording, present: str) -> None:
        """The model goes on with what was assigned."""
        host, name = _at(root, 0, present)
        logits = models.run(root, lambda: _edit(host, name, _perturbed))

        assert not torch.allclose(logits, recording.logits, **RECOMPUTED)

    def test_a_written_value_is_read_again(self, root: Root, present: str) -> None:
        """What the block reads after its own write is what it wrote."""
        host, name = _at(root, 0, present)
        seen: list[Tensor] = []

        def block() -> None:
            wanted = _perturbed(getattr(host, name))
            setattr(host, name, wanted)
            seen.extend([wanted.clone(), getattr(host, name).clone()])

        models.run(root, block)

        torch.testing.assert_close(seen[1], seen[0], **RECOMPUTED)

    def test_an_edit_in_place_is_an_assignment(self, root: Root, present: str) -> None:
        """`value += x` and `host.value = value + x` are one edit."""
        if present in self.spreads:
            pytest.skip("the model uses this tensor elsewhere as well")
        host, name = _at(root, 0, present)
        assigned = models.run(root, lambda: _edit(host, name, _perturbed))
        in_place = models.run(root, lambda: _edit_in_place(host, name, _perturbed))

        torch.testing.assert_close(in_place, assigned, **RECOMPUTED)

    @pytest.mark.parametrize("in_place", [True, False], ids=["in_place", "assigned"])
    def test_an_edit_in_one_invoke_leaves_the_others(
        self, root: Root, recording: Recording, present: str, in_place: bool
    ) -> None:
        """Rows of a batch that belong to another block keep every bit."""
        host, name = _at(root, 0, present)
        edit = _edit_in_place if in_place else _edit
        logits = models.run_rows(root, 1, lambda: edit(host, name, _perturbed))

        assert torch.equal(logits[1:], recording.logits[1:])
        assert not torch.allclose(logits[0], recording.logits[0], **RECOMPUTED)

    def test_a_saved_value_does_not_change_later(self, root: Root, present: str) -> None:
        """What was read is, after the run, what it was when it was read."""
        host, name = _at(root, 0, present)
        seen: list[Tensor] = []

        def block() -> None:
            value = getattr(host, name)
            seen.extend([value, value.clone()])

        models.run(root, block)

        assert torch.equal(seen[0], seen[1])

    # Identities

    @pytest.mark.parametrize("layer", range(models.LAYERS))
    def test_the_contributions_add_up_to_the_output(self, root: Root, recording: Recording, layer: int) -> None:
        """The block's output is its input and the contributions, put together as the family does."""
        block: Layer = root.layers[layer]
        parts = self.truth(recording, layer)
        names = ("layer_input", "self_attn.attention_output", "mlp.mlp_output")
        again = block.recomposed(*(parts[name] for name in names))

        torch.testing.assert_close(again, parts["layer_output"], **RECOMPUTED)

    def test_the_last_stream_projects_to_the_logits(self, root: Root, recording: Recording) -> None:
        """`project_on_vocab` is what the model itself does at the end."""
        last = self.truth(recording, models.LAYERS - 1)["layer_output"]
        with torch.no_grad():
            projected = root.project_on_vocab(last)

        torch.testing.assert_close(projected, recording.logits, **RECOMPUTED)

    def test_a_skipped_block_passes_its_input_on(self, root: Root, recording: Recording) -> None:
        """The next block is given what the skipped one was given."""
        seen: list[Tensor] = []

        def block() -> None:
            root.skip_layer(0)
            seen.append(root.layers[1].layer_input.clone())

        models.run(root, block)

        assert torch.equal(seen[0], self.truth(recording, 0)["layer_input"])

    # What is said

    @pytest.mark.parametrize("layer", range(models.LAYERS))
    def test_support_is_true(self, root: Root, layer: int) -> None:
        """The table has the values of the contract, and a reason for exactly those that the family lacks."""
        table = root.support(layer)

        assert set(BLOCK_VALUES) <= table.keys()
        assert {name for name in BLOCK_VALUES if table[name] is not None} == self.absent.keys()

    def test_what_is_not_there_says_why(self, root: Root) -> None:
        """The reason is in the table and in the error."""
        table = root.support(0)
        errors = {name: _refusal(root, *_at(root, 0, name)) for name in self.absent}

        assert [name for name, part in self.absent.items() if part not in str(table[name])] == []
        assert [name for name, part in self.absent.items() if part not in errors[name]] == []

    def test_every_value_stands_in_the_repr(self, root: Root) -> None:
        """`print(model)` has the line of each value."""
        printed = repr(root)
        hosts = {host for host, _ in (_at(root, 0, name) for name in BLOCK_VALUES)}

        assert [str(value) for host in hosts for value in host.values().values() if str(value) not in printed] == []

    def test_sizes_are_those_of_the_config(self, root: Root) -> None:
        """The root's and the modules' sizes agree."""
        attention, mlp = root.layers[0].self_attn, root.layers[0].mlp
        names = ("num_heads", "num_kv_heads", "head_dim", "qk_head_dim")

        assert [getattr(attention, name) for name in names] == [getattr(root, name) for name in names]
        assert (mlp.intermediate_size, root.num_layers) == (root.intermediate_size, models.LAYERS)

    # Under the fused kernel

    def test_a_value_is_there_under_sdpa(self, sdpa_root: Root, root: Root, under_sdpa: str) -> None:
        """What surrounds attention is what plain hooks see; what enters it is what eager attention is given."""
        if under_sdpa in self.absent_under_sdpa:
            assert self.absent_under_sdpa[under_sdpa] in _refusal(sdpa_root, *_at(sdpa_root, 0, under_sdpa))
            return
        if under_sdpa in self.differs_under_sdpa:
            pytest.skip(self.differs_under_sdpa[under_sdpa])
        if under_sdpa in ATTENTION_VALUES:
            # Without padding, since a query that may look nowhere looks everywhere in eager attention alone.
            read, _ = _read(sdpa_root, *_at(sdpa_root, 0, under_sdpa), padded=False)
            expected, _ = _read(root, *_at(root, 0, under_sdpa), padded=False)
        else:
            read, _ = _read(sdpa_root, *_at(sdpa_root, 0, under_sdpa))
            expected = self.truth(Recording(sdpa_root._module, models.inputs()), 0)[under_sdpa]

        torch.testing.assert_close(read, expected, **RECOMPUTED)


def _at(root: Root, layer: int, value: str) -> tuple[Any, str]:
    """The envoy that carries a value of a block, and the value's name there."""
    part, _, name = value.rpartition(".")
    block = root.layers[layer]
    return (getattr(block, part) if part else block), name


def _descriptor(host: Any, name: str) -> EProperty:
    descriptor: EProperty = getattr(type(host), name)
    return descriptor


def _read(root: Root, host: Any, name: str, padded: bool = True) -> tuple[Tensor, Tensor]:
    """What a block reads, and the logits of its run."""
    seen: list[Tensor] = []
    logits = models.run(root, lambda: seen.append(getattr(host, name).clone()), padded=padded)
    return seen[0], logits


def _refusal(root: Root, host: Any, name: str) -> str:
    """What a block is told when it reads a value that is not there."""
    with pytest.raises(Unavailable) as caught:
        models.run(root, lambda: getattr(host, name))
    return str(caught.value)


Edit = Callable[[Tensor], Tensor]


def _edit(host: Any, name: str, edit: Edit) -> None:
    setattr(host, name, edit(getattr(host, name)))


def _edit_in_place(host: Any, name: str, edit: Edit) -> None:
    value = getattr(host, name)
    value.copy_(edit(value))


def _perturbed(value: Tensor) -> Tensor:
    """Another value of the same kind, still finite where the mask's floor is added."""
    noise = torch.randn(value.shape, generator=torch.Generator().manual_seed(2))
    return value * 0.5 + noise

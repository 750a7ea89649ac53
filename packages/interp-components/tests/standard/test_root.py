"""The root of a decoder: its values, its sizes, and what is done to all blocks."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config

from interp_components.standard import Root
from tests import models


@pytest.fixture(scope="module")
def root() -> Root:
    config = GPT2Config(
        vocab_size=models.VOCAB,
        n_embd=models.HIDDEN_OF_HEADS,
        n_layer=3,
        n_head=models.HEADS,
        n_inner=models.INTERMEDIATE,
    )
    return models.wrap(models.build(config))


@pytest.fixture(scope="module")
def plain(root: Root) -> Tensor:
    """The logits of a run that nobody touches."""
    return models.run(root)


def read(root: Root, value: Any) -> Any:
    seen: list[Any] = []
    models.run(root, lambda: seen.append(value()))
    return seen[0]


def test_the_inputs_are_what_the_model_is_given(root: Root) -> None:
    """Token ids and their mask, by name."""
    seen = read(root, lambda: (root.input_ids, root.attention_mask, root.input_size))
    given = models.inputs()

    assert torch.equal(seen[0], given["input_ids"])
    assert torch.equal(seen[1], given["attention_mask"])
    assert seen[2] == (models.BATCH, models.SEQ)


def test_assigned_tokens_are_what_the_model_runs_on(root: Root, plain: Tensor) -> None:
    """The embedding sees them."""
    other = models.inputs()["input_ids"].flip(1)
    seen: list[Tensor] = []

    def block() -> None:
        root.input_ids = other
        seen.append(root.token_embeddings)

    models.run(root, block)

    assert torch.equal(seen[0], root._module.transformer.wte(other))


def test_next_token_probs_are_the_softmax_at_the_last_position(root: Root, plain: Tensor) -> None:
    """They follow edited logits too."""
    assert torch.equal(read(root, lambda: root.next_token_probs), plain[:, -1].softmax(-1))


def test_assigned_logits_are_what_the_model_returns(root: Root, plain: Tensor) -> None:
    """The other fields of the output stay."""
    other = torch.zeros_like(plain)
    seen: list[Any] = []

    def block() -> None:
        root.logits = other
        seen.append(root.output)

    assert torch.equal(models.run(root, block), other)
    assert "cache" in seen[0] or "past_key_values" in seen[0]


@pytest.mark.parametrize(
    ("name", "instead"), [("next_token_probs", "logits"), ("input_size", "input_ids")], ids=["probs", "size"]
)
def test_a_derived_value_names_what_to_assign(root: Root, name: str, instead: str) -> None:
    """The refusal has the way out."""
    with pytest.raises(
        AttributeError, match=f"{name} is derived and read-only; assign {instead}, which it follows from"
    ):
        setattr(root, name, torch.zeros(1))


def test_sizes_are_read_off_the_config(root: Root) -> None:
    """All of them, the family's own among them."""
    names = (
        "num_layers", "hidden_size", "vocab_size", "num_heads", "num_kv_heads", "head_dim", "qk_head_dim", "intermediate_size",
    )  # fmt: skip

    assert [getattr(root, name) for name in names] == [3, 48, 97, 6, 6, 8, 8, 40]


def test_a_size_cannot_be_assigned(root: Root) -> None:
    """The refusal says where a size comes from."""
    with pytest.raises(AttributeError, match=r"num_heads is read off the config.*`def num_heads\(model\)`"):
        root.num_heads = 3


def test_a_size_that_the_config_does_not_have_is_for_the_family_to_say(root: Root) -> None:
    """GPT-2's config calls its neurons otherwise, and here no family knows that."""
    alone = Root(root._module, rename={"transformer.h": "layers"})

    with pytest.raises(
        NotImplementedError, match=r"intermediate_size of GPT2LMHeadModel.*`def intermediate_size\(model\)`"
    ):
        alone.intermediate_size  # the access is the test


# Skipping


@pytest.mark.parametrize(
    ("start", "end", "skipped"),
    [(0, 0, [0]), (1, 2, [1, 2]), (-2, -1, [1, 2]), (0, -1, [0, 1, 2])],
    ids=["first", "last_two", "negative", "all"],
)
def test_skipped_blocks_return_what_the_first_is_given(root: Root, start: int, end: int, skipped: list[int]) -> None:
    """The model computes what one without these blocks does."""
    kept = [block for index, block in enumerate(root._module.transformer.h) if index not in skipped]
    expected = models.run(root, lambda: root.skip_layers(start, end))
    shorter = models.build(root.config)
    shorter.load_state_dict(root._module.state_dict())
    shorter.transformer.h = torch.nn.ModuleList(kept)
    with torch.no_grad():
        without = shorter(**models.inputs(), use_cache=False).logits

    torch.testing.assert_close(expected, without)


def test_a_skipped_block_can_return_something_else(root: Root) -> None:
    """What is given is what the next block gets."""
    other = torch.ones(models.BATCH, models.SEQ, models.HIDDEN_OF_HEADS)
    seen: list[Tensor] = []

    def block() -> None:
        root.skip_layer(0, skip_with=other)
        seen.append(root.layers[1].layer_input)

    models.run(root, block)

    assert torch.equal(seen[0], other)


@pytest.mark.parametrize(
    ("start", "end"), [(2, 1), (0, 3), (-4, 0)], ids=["backwards", "past_the_end", "before_the_first"]
)
def test_a_range_without_blocks_is_refused(root: Root, start: int, end: int) -> None:
    """The message has the range and the number of blocks."""
    with pytest.raises(ValueError, match=rf"skip_layers\({start}, {end}\) names no range of blocks; the model has 3"):
        root.skip_layers(start, end)


# Steering


@pytest.mark.parametrize(
    ("positions", "rows", "changed"),
    [
        pytest.param(None, None, (slice(None), slice(None)), id="everywhere"),
        pytest.param(-1, None, (slice(None), [-1]), id="last_position"),
        pytest.param([0, 2], 1, (1, [0, 2]), id="some_of_one_row"),
        pytest.param(slice(2, 4), [0, 2], ([[0], [2]], [[2, 3]]), id="block_of_both"),
    ],
)
def test_steering_adds_to_the_chosen_places(root: Root, positions: Any, rows: Any, changed: Any) -> None:
    """And to no other."""
    vector = torch.arange(models.HIDDEN_OF_HEADS, dtype=torch.float64)
    before = read(root, lambda: root.layers[1].layer_output.clone())
    seen: list[Tensor] = []

    def block() -> None:
        root.steer(1, vector, factor=0.5, token_positions=positions, batch_index=rows)
        seen.append(root.layers[2].layer_input.clone())

    models.run(root, block)
    expected = before.clone()
    expected[changed] += 0.5 * vector.float()

    torch.testing.assert_close(seen[0], expected)


def test_steering_goes_through_blocks_in_the_order_they_run(root: Root) -> None:
    """In whatever order, and however often, they are named."""
    vector = torch.ones(models.HIDDEN_OF_HEADS)
    both = models.run(root, lambda: root.steer([-1, 0, 2], vector))

    def one_by_one() -> None:
        root.layers[0].layer_output += vector
        root.layers[2].layer_output += vector

    assert torch.equal(both, models.run(root, one_by_one))


@pytest.mark.parametrize(
    ("layers", "outside"),
    [(3, [3]), (-4, [-4]), (100, [100]), ([0, 3, 2, -5], [3, -5])],
    ids=["past_the_end", "before_the_first", "far", "some_of_several"],
)
def test_steering_a_block_that_is_not_there_is_refused(
    root: Root, plain: Tensor, layers: Any, outside: list[int]
) -> None:
    """No other block is steered in its place, and the message has what was asked and the number of blocks."""
    found = re.escape(f"steer({layers!r}, ...) names no block by {outside}; the model has 3")

    def block() -> None:
        with pytest.raises(ValueError, match=found):
            root.steer(layers, torch.ones(models.HIDDEN_OF_HEADS))

    assert torch.equal(plain, models.run(root, block))


# Onto the vocabulary


class Words:
    """A tokenizer that decodes pairs of ids to one text."""

    def decode(self, ids: list[int]) -> str:
        return f"w{ids[0] // 2}"

    def convert_ids_to_tokens(self, token: int) -> str:
        return "raw" if token % 2 else f"even{token}"


def test_probabilities_are_named_and_none_is_lost(root: Root) -> None:
    """A second token of one text is called by its raw form, a third by its id."""
    root.tokenizer = Words()
    probs = torch.zeros(models.VOCAB)
    probs[[8, 9, 20, 21]] = torch.tensor([0.4, 0.3, 0.2, 0.1])

    assert list(root.probs_to_dict(probs, k=4)) == ["w4", "raw", "w10", "#21"]


def test_the_closest_tokens_are_those_of_the_projection(root: Root, plain: Tensor) -> None:
    """One dict per row, likeliest first."""
    root.tokenizer = Words()
    hidden = read(root, lambda: root.layers[-1].layer_output.clone())
    with torch.no_grad():
        closest = root.get_topk_closest_tokens(hidden[:, -1], k=3)
    best = plain[:, -1].softmax(-1).topk(3).values

    torch.testing.assert_close(torch.tensor([list(row.values()) for row in closest]), best)


# Support


def test_support_names_values_of_the_root_and_of_all_blocks(root: Root) -> None:
    """Dotted from the block; a part that no block has contributes nothing."""
    table = root.support()

    assert table["logits"] is None
    assert table["layers.self_attn.attention_scores"] is None
    assert not any("linear_attn" in name for name in table)


def test_support_of_one_block_is_flat(root: Root) -> None:
    """As a reader of one block asks."""
    assert root.support(layer=1)["mlp.mlp_output"] is None


def test_support_says_which_blocks_lack_a_value(root: Root) -> None:
    """A reason per block when blocks differ."""
    scaled = models.wrap(models.build(root.config))
    scaled._module.transformer.h[1].attn.config = _with_sdpa(root.config)

    assert set(scaled.support()["layers.self_attn.attention_scores"]) == {1}


def _with_sdpa(config: Any) -> Any:
    other = type(config)(**config.to_dict())
    other._attn_implementation = "sdpa"
    return other

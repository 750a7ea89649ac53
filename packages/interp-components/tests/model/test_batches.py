"""Several inputs, one batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import DynamicCache

from interp_components.errors import BatchError
from interp_components.model.batches import join
from interp_components.model.inputs import Prepared
from interp_components.model.rows import Padding

PADDING = Padding(9)


def part(*rows: list[int], **more: Any) -> Prepared:
    """An input of equally long rows in which every token counts."""
    ids = torch.tensor(rows)
    return Prepared({"input_ids": ids, "attention_mask": torch.ones_like(ids), **more}, len(rows))


def test_one_input_is_passed_on_as_it_is() -> None:
    """Nothing is done to what needs no joining."""
    only = part([1, 2])

    assert join([only], PADDING) is only


def test_rows_stand_under_one_another_in_the_order_of_the_inputs() -> None:
    """Shorter inputs are padded on the left, and their padding is masked."""
    joined = join([part([1]), part([2, 3], [4, 5])], PADDING)

    assert joined.arguments["input_ids"].tolist() == [[9, 1], [2, 3], [4, 5]]
    assert joined.arguments["attention_mask"].tolist() == [[0, 1], [1, 1], [1, 1]]


def test_the_rows_are_counted() -> None:
    """A batch has the rows of all its inputs."""
    assert join([part([1]), part([2], [3])], PADDING).rows == 3


def test_inputs_without_masks_get_one_when_their_lengths_differ() -> None:
    """Padding that nobody masks would be read as text."""
    joined = join([Prepared({"input_ids": torch.ones(1, n).long()}, 1) for n in (1, 2)], PADDING)

    assert joined.arguments["attention_mask"].tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("labels", [[-100, 7], [-100, -100]]), ("token_type_ids", [[0, 7], [0, 0]])],
    ids=["labels", "token_type_ids"],
)
def test_an_input_without_an_argument_of_tokens_gets_its_neutral_value(name: str, expected: list[list[int]]) -> None:
    """An invoke without labels has no loss of its own."""
    joined = join([part([1], **{name: torch.tensor([[7]])}), part([2, 3])], PADDING)

    assert expected == joined.arguments[name].tolist()


def test_positions_of_one_input_are_joined_with_those_that_the_others_have_by_counting() -> None:
    """An invoke that chooses its positions does not choose those of the others."""
    joined = join([part([1, 2], position_ids=torch.tensor([[5, 6]])), part([3, 4])], PADDING)

    assert joined.arguments["position_ids"].tolist() == [[5, 6], [0, 1]]


def test_other_tensors_are_put_under_one_another() -> None:
    """What has rows and no place per token is joined along its rows."""
    joined = join([part([1], scale=torch.ones(1, 2)), part([2], scale=torch.zeros(1, 2))], PADDING)

    assert joined.arguments["scale"].tolist() == [[1, 1], [0, 0]]


def test_vectors_are_padded_as_token_ids_are() -> None:
    """Inputs given as embeddings are joined, too."""
    parts = [Prepared({"inputs_embeds": torch.ones(1, n, 4)}, 1) for n in (1, 2)]

    assert tuple(join(parts, PADDING).arguments["inputs_embeds"].shape) == (2, 2, 4)


def test_an_option_given_once_holds_for_the_batch() -> None:
    """A forward runs once, so what is no tensor is said once."""
    assert join([part([1], use_cache=False), part([2])], PADDING).arguments["use_cache"] is False


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        pytest.param(
            [part([1], use_cache=False), part([2], use_cache=True)], "use_cache is False and True", id="options"
        ),
        pytest.param(
            [part([1], scale=torch.ones(1, 2)), part([2])], "scale is a tensor for some and None", id="missing"
        ),
        pytest.param(
            [part([1], scale=torch.ones(1, 2)), part([2], scale=torch.ones(1, 3))],
            r"scale has the shapes \[\(1, 2\), \(1, 3\)\]",
            id="shapes",
        ),
        pytest.param(
            [part([1]), Prepared({"inputs_embeds": torch.ones(1, 1, 4)}, 1)], "each inputs_embeds", id="kinds"
        ),
        pytest.param(
            [part([1], cache=DynamicCache()), part([2])], "cache is a DynamicCache for some and missing", id="cache"
        ),
    ],
)
def test_inputs_that_cannot_be_one_batch_say_which_argument_stands_in_the_way(
    parts: list[Prepared], found: str
) -> None:
    """The error names the argument and what each input has of it."""
    with pytest.raises(BatchError, match=found):
        join(parts, PADDING)

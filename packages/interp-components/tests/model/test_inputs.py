"""What may be given to a model, and what becomes of it."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch
from tests.model import standins

from interp_components.model.inputs import InputError, Prepared, Reader, TokenizerNeeded, with_positions
from interp_components.model.rows import Padding


def reader(side: Any = "left") -> Reader:
    """A reader with a tokenizer of one token per byte, which pads with 0."""
    tokenizer = standins.tokenizer()
    tokenizer.chat_template = standins.CHAT
    return Reader(lambda: tokenizer, lambda: Padding(0, side), standins.VOCABULARY)


def read(given: object, **arguments: Any) -> Prepared:
    """One input, read."""
    return reader().read([given], arguments)


A, B, C = standins.tokenizer()("abc").input_ids


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        pytest.param("ab", [[A, B]], id="text"),
        pytest.param(["ab"], [[A, B]], id="list of one text"),
        pytest.param(["c", "ab"], [[0, C], [A, B]], id="texts of different lengths"),
        pytest.param([5, 6], [[5, 6]], id="token ids"),
        pytest.param([[5], [6, 7]], [[0, 5], [6, 7]], id="ragged token ids"),
        pytest.param(((5, 6), (7, 8)), [[5, 6], [7, 8]], id="tuples"),
        pytest.param(torch.tensor([5, 6]), [[5, 6]], id="tensor of one row"),
        pytest.param(torch.tensor([[5], [6]]), [[5], [6]], id="tensor of rows"),
        pytest.param([torch.tensor([5]), torch.tensor([6, 7])], [[0, 5], [6, 7]], id="ragged tensors"),
        pytest.param(numpy.array([[5, 6]]), [[5, 6]], id="array"),
        pytest.param({"input_ids": [[5], [6, 7]]}, [[0, 5], [6, 7]], id="mapping of lists"),
        pytest.param({"input_ids": [5, 6]}, [[5, 6]], id="mapping of one list"),
        pytest.param(standins.tokenizer()("ab"), [[A, B]], id="what a tokenizer returned"),
        pytest.param([{"role": "user", "content": "b"}], [standins.tokenizer()("uba").input_ids], id="chat"),
    ],
)
def test_every_form_of_input_becomes_rows_of_token_ids(given: object, ids: list[list[int]]) -> None:
    """The same rows come from all forms, the shorter ones padded on the left."""
    assert ids == read(given).arguments["input_ids"].tolist()


def test_two_chats_are_two_rows() -> None:
    """A list of conversations is a batch of them."""
    chats = [[{"role": "user", "content": "b"}], [{"role": "user", "content": "bc"}]]

    assert read(chats).rows == 2


def test_padding_is_masked() -> None:
    """The mask is 1 for tokens and 0 for padding."""
    assert read([[5], [6, 7]]).arguments["attention_mask"].tolist() == [[0, 1], [1, 1]]


def test_lists_keep_the_mask_that_came_with_them() -> None:
    """A tokenizer's own mask is padded along, not made anew."""
    given = {"input_ids": [[5, 6], [7]], "attention_mask": [[0, 1], [1]]}

    assert read(given).arguments["attention_mask"].tolist() == [[0, 1], [0, 1]]


def test_tensors_by_name_are_passed_on_as_they_are() -> None:
    """What is ready for the model is not split, padded or copied."""
    given = standins.tokenizer()("ab", return_tensors="pt")
    arguments = read(given).arguments

    assert all(arguments[name] is given[name] for name in ("input_ids", "attention_mask"))


def test_an_input_may_be_given_by_name_alone() -> None:
    """`trace(inputs_embeds=...)` is an input of as many rows."""
    assert reader().read([], {"inputs_embeds": torch.ones(3, 2, 16)}).rows == 3


def test_arguments_without_an_input_have_no_rows() -> None:
    """`trace(use_cache=False)` says how to run, and not on what."""
    assert Prepared({"use_cache": False}, 0) == reader().read([], {"use_cache": False})


def test_arguments_by_name_win_over_those_of_the_input() -> None:
    """A mask given beside a text replaces the one of the text."""
    mask = torch.tensor([[0, 1]])

    assert read("ab", attention_mask=mask).arguments["attention_mask"] is mask


def test_ids_do_not_ask_for_a_tokenizer() -> None:
    """A model that comes without one still runs on token ids."""
    assert Reader(lambda: None, Padding, 10).read([[1, 2]], {}).rows == 1


@pytest.mark.parametrize(
    ("given", "found"),
    [
        pytest.param("", "the text '' has no tokens", id="empty text"),
        pytest.param(["a", ""], "the text '' has no tokens", id="empty text in a list"),
        pytest.param([], r"the input \[\] is empty", id="empty list"),
        pytest.param([[]], "row 0 of the input is empty", id="empty row"),
        pytest.param([[5], []], "row 1 of the input is empty", id="second row empty"),
        pytest.param(torch.empty(0, dtype=torch.long), "input_ids is empty", id="empty tensor"),
        pytest.param(torch.empty(2, 0, dtype=torch.long), "input_ids is empty", id="tensor without columns"),
        pytest.param({"input_ids": []}, "row 0 of the input is empty", id="mapping of an empty list"),
        pytest.param([5, 257], "token id 257 at row 0, position 1 has no embedding", id="id too large"),
        pytest.param([[5, 6], [7, -1]], "token id -1 at row 1, position 1 has no embedding", id="negative id"),
        pytest.param(torch.ones(1, 2), "input_ids is torch.float32", id="floats"),
        pytest.param(torch.ones(1, 2, 3).long(), "not the shape", id="too many axes"),
        pytest.param([[[5]]], "row 0 of the input has 2 axes", id="nested too deep"),
        pytest.param(["a", 5], "holds a int", id="mixed list"),
        pytest.param([[5, "a"]], "as rows of token ids", id="text among ids"),
        pytest.param(3.5, "cannot run a model on a float", id="number"),
        pytest.param(None, "cannot run a model on a NoneType", id="nothing"),
        pytest.param(
            {"ids": [5]}, r"by its input_ids or inputs_embeds, and this one has \[.ids.\]", id="mapping of strangers"
        ),
    ],
)
def test_an_input_that_no_model_can_run_on_is_refused_with_what_is_wrong(given: object, found: str) -> None:
    """The error names the row and position where there is one."""
    with pytest.raises(InputError, match=found):
        read(given)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        pytest.param({"truncation": True, "max_length": 2}, [[A, B]], id="cut"),
        pytest.param({"add_special_tokens": False}, [[A, B, C]], id="special tokens"),
    ],
)
def test_the_options_of_a_tokenizer_are_those_of_the_text(options: dict[str, Any], ids: list[list[int]]) -> None:
    """They are not handed to the model."""
    arguments = read("abc", **options).arguments

    assert (arguments["input_ids"].tolist(), arguments.keys()) == (ids, {"input_ids", "attention_mask"})


def test_a_maximal_length_alone_is_not_the_tokenizers() -> None:
    """It is that of a generation."""
    assert read("abc", max_length=2).arguments["max_length"] == 2


def test_options_of_a_tokenizer_without_a_text_are_refused() -> None:
    """Ids are not cut behind the user's back, nor the option dropped."""
    with pytest.raises(InputError, match="truncation, max_length say how a text becomes tokens"):
        read([1, 2, 3], truncation=True, max_length=2)


def test_no_mask_is_assumed_beside_a_cache() -> None:
    """One for the new tokens alone would hide those that the cache holds."""
    assert "attention_mask" not in read([5], past_key_values=object()).arguments


def test_a_mask_that_is_given_stays_beside_a_cache() -> None:
    """The user knows how long the cache is."""
    mask = torch.ones(1, 4)

    assert read([5], past_key_values=object(), attention_mask=mask).arguments["attention_mask"] is mask


@pytest.mark.parametrize("labels", [[5, 6], torch.tensor([5, 6])], ids=["list", "tensor"])
def test_what_belongs_to_each_token_of_one_row_gets_its_axis(labels: object) -> None:
    """Flat labels beside flat ids are those of that row."""
    assert read([5, 6], labels=labels).arguments["labels"].tolist() == [[5, 6]]


def test_ids_by_name_may_be_lists() -> None:
    """They are padded like any other."""
    assert reader().read([], {"input_ids": [[5], [6, 7]]}).arguments["input_ids"].tolist() == [[0, 5], [6, 7]]


def test_embeddings_of_one_row_get_its_axis() -> None:
    """[seq, hidden] is a batch of one."""
    assert reader().read([], {"inputs_embeds": torch.ones(2, 3)}).arguments["inputs_embeds"].shape == (1, 2, 3)


def test_two_inputs_are_refused_with_the_way_to_give_both() -> None:
    """Several texts go in one list."""
    with pytest.raises(InputError, match=r"got 2 inputs.*one list"):
        reader().read(["a", "b"], {})


def test_text_without_a_tokenizer_says_how_to_give_one() -> None:
    """The error holds the text and the argument to pass."""
    with pytest.raises(TokenizerNeeded, match=r"'ab' needs a tokenizer.*tokenizer=tokenizer"):
        Reader(lambda: None, Padding, 10).read(["ab"], {})


def test_a_chat_without_a_template_is_refused() -> None:
    """A tokenizer that knows no chat cannot be given one."""
    plain = Reader(standins.tokenizer, Padding, standins.VOCABULARY)
    with pytest.raises(InputError, match="no chat template"):
        plain.read([[{"role": "user", "content": "b"}]], {})


def test_padded_rows_get_positions() -> None:
    """The first token of each row is number 0."""
    named = with_positions({"attention_mask": torch.tensor([[0, 1, 1], [1, 1, 1]])})

    assert named["position_ids"].tolist() == [[0, 0, 1], [0, 1, 2]]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"attention_mask": torch.ones(1, 3)}, id="nothing is padded"),
        pytest.param({"attention_mask": torch.tensor([[1, 1, 0]])}, id="padding on the right"),
        pytest.param({"attention_mask": torch.tensor([[1, 0, 1]])}, id="a gap"),
        pytest.param({"input_ids": torch.ones(1, 3)}, id="no mask"),
        pytest.param({"attention_mask": torch.zeros(1, 1, 3, 3)}, id="a mask of its own kind"),
        pytest.param({"attention_mask": torch.zeros(1, 3), "past_key_values": object()}, id="a cache"),
        pytest.param({"attention_mask": torch.zeros(1, 3), "position_ids": torch.ones(1, 3)}, id="positions"),
    ],
)
def test_positions_are_added_only_where_they_follow_from_padding(arguments: dict[str, Any]) -> None:
    """Whatever says more than padding is left as it is."""
    assert arguments is with_positions(arguments)

"""How tokenizers pad, and how they begin a text."""

from __future__ import annotations

import pytest
from tests.model import standins
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import GPT2Config, PreTrainedTokenizerFast

from interp_components.model.rows import Padding
from interp_components.model.tokenizers import PrefixError, padding_of, ready_to_pad, without_prefix


def test_a_tokenizer_of_our_own_pads_on_the_left_with_its_end() -> None:
    """A model goes on from the last column, so that is where a text ends."""
    tokenizer = ready_to_pad(standins.tokenizer(), {})

    first, second = tokenizer("ab").input_ids

    assert [[0, first], [first, second]] == tokenizer(["a", "ab"], padding=True).input_ids


def test_the_side_that_the_user_asks_for_is_kept() -> None:
    """Padding on the right is chosen by the tokenizer's own option."""
    assert ready_to_pad(standins.tokenizer(), {"padding_side": "right"}).padding_side == "right"


@pytest.mark.parametrize(
    ("end", "vocabulary", "expected"),
    [(5, 10, 5), (5, 3, 0), ([5, 6], 10, 0), (None, 10, 0)],
    ids=["the end", "an end beyond the vocabulary", "several ends", "no end"],
)
def test_rows_are_padded_with_a_token_that_the_model_has(end: object, vocabulary: int, expected: int) -> None:
    """A padding token without an embedding would end the forward."""
    config = GPT2Config(eos_token_id=end, pad_token_id=None, bos_token_id=None)

    assert Padding(expected) == padding_of(None, config, vocabulary)


def test_a_prefix_of_the_byte_kind_is_left_out() -> None:
    """`Paris` and ` Paris` are different words to the copy."""
    tokenizer = standins.tokenizer(add_prefix_space=True)

    assert len(tokenizer("ab").input_ids) - 1 == len(without_prefix(tokenizer)("ab").input_ids)


@pytest.mark.parametrize("way", ["metaspace", "normalizer"])
def test_a_prefix_of_the_sentencepiece_kind_is_left_out(way: str) -> None:
    """Both ways in which Llama's tokenizers put a space in front."""
    core = Tokenizer(models.BPE(vocab={"\u2581": 0, "a": 1}, merges=[]))
    core.decoder = decoders.Metaspace()
    if way == "metaspace":
        core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    else:
        core.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])

    assert without_prefix(PreTrainedTokenizerFast(tokenizer_object=core))("a").input_ids == [1]


def test_the_tokenizer_itself_stays_as_it_is() -> None:
    """The copy is changed, and not what it was made from."""
    tokenizer = standins.tokenizer(add_prefix_space=True)
    before = tokenizer("ab").input_ids
    without_prefix(tokenizer)

    assert before == tokenizer("ab").input_ids


def test_a_tokenizer_written_in_python_says_how_to_load_it_otherwise() -> None:
    """Its handling of the first word is out of reach."""
    from transformers import ByT5Tokenizer

    with pytest.raises(PrefixError, match="ByT5Tokenizer begins a text"):
        without_prefix(ByT5Tokenizer())

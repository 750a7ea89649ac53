"""`interp lens`: what a model would say after each layer."""

from __future__ import annotations

import torch

from interp_components.analysis import logit_lens
from interp_components.model import StandardizedTransformer

from .ran import Interp

PROMPT = "When Mary and John went to the shop, John gave a ring to"


def test_the_answer_is_the_model_s_own(interp: Interp) -> None:
    """The last layer says what the model says, and its rank is 1 there."""
    facts = interp("lens", "toy", PROMPT, "--json").facts

    assert facts["answer"]["text"] == " Mary"
    assert [layer["rank"] for layer in facts["layers"]] == [6, 1, 1, 1]
    assert facts["layers"][-1]["top"][-1][0] == facts["answer"]


def test_guesses_are_those_of_the_lens(interp: Interp) -> None:
    """Of each layer at each place, likeliest first."""
    facts = interp("lens", "toy", PROMPT, "--top", "2", "--json").facts
    expected = logit_lens(StandardizedTransformer("toy"), PROMPT).logits[:, 0].softmax(-1).topk(2)

    found = [[[guess["id"] for guess in place] for place in layer["top"]] for layer in facts["layers"]]
    sure = [[[guess["probability"] for guess in place] for place in layer["top"]] for layer in facts["layers"]]
    assert found == expected.indices.tolist()
    # In single precision, of the same numbers: the last digit is torch's.
    torch.testing.assert_close(torch.tensor(sure), expected.values, rtol=1e-5, atol=1e-7)


def test_a_word_is_followed_in_place_of_the_answer(interp: Interp) -> None:
    """Its first token is, with its space."""
    facts = interp("lens", "toy", PROMPT, "--word", " John", "--json").facts

    assert facts["answer"]["text"] == " John"
    assert [layer["rank"] for layer in facts["layers"]][1:] == [2, 2, 2]


def test_the_last_tokens_keep_their_positions(interp: Interp) -> None:
    """What is left out is left out at the beginning."""
    tokens = interp("lens", "toy", PROMPT, "--last", "2", "--json").facts["tokens"]

    assert [(token["position"], token["text"]) for token in tokens] == [(12, " ring"), (13, " to")]


def test_the_table_shows_how_the_answer_comes_up(interp: Interp) -> None:
    """Layer, probability, rank, and the guesses; what is nearly certain does not look certain."""
    last = interp("lens", "toy", PROMPT).out.splitlines()[-1]

    assert last.split("  ") == ["", "", "3", "99.5%", "", " 1", "·Mary >99%", "·John <1%", " ·Emma <1%"]

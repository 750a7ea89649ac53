"""Prompts with what may come next."""

from __future__ import annotations

import pytest
import torch
from tests.model import standins

from interp_components.analysis import (
    LogitDifference,
    Prompt,
    TargetCollision,
    TargetError,
    first_tokens,
    logit_difference,
    target_probabilities,
)
from interp_components.model import InputError, StandardizedTransformer

PROMPT = "When Mary and John went to the shop, John gave a ring to"


def test_a_target_is_the_sum_over_its_words(toy: StandardizedTransformer) -> None:
    """Run together with a shorter prompt, which is padded."""
    targets = {"she": [" Mary", " Emma"], "he": " John"}
    prompts = [Prompt.of(toy, text, targets) for text in (PROMPT, "Emma went to", "It was")]
    found = target_probabilities(toy, prompts, batch_size=2)
    with toy.trace(PROMPT):
        probs = toy.next_token_probs[0].save()
    assert toy.tokenizer is not None
    mary, emma = (toy.tokenizer.encode(name)[0] for name in (" Mary", " Emma"))

    torch.testing.assert_close(found["she"][0], probs[mary] + probs[emma], rtol=1e-4, atol=1e-6)
    assert {name: tuple(values.shape) for name, values in found.items()} == {"she": (3,), "he": (3,)}


def test_targets_of_one_token_are_refused(toy: StandardizedTransformer) -> None:
    """With the token that they share."""
    with pytest.raises(TargetCollision, match=r"'she' and 'they' both begin with token \d+ \(' Mary'\)"):
        Prompt.of(toy, PROMPT, {"she": " Mary", "they": [" John", " Mary"]})


def test_words_of_one_target_may_share_a_token(toy: StandardizedTransformer) -> None:
    """It is counted once."""
    assert len(Prompt.of(toy, PROMPT, {"she": [" Mary", " Mary"]}).targets["she"]) == 1


def test_prompts_of_unlike_targets_are_not_run_together(toy: StandardizedTransformer) -> None:
    """The second does not have what the first has."""
    prompts = [Prompt.of(toy, PROMPT, {"she": " Mary"}), Prompt.of(toy, PROMPT, {"he": " John"})]
    with pytest.raises(TargetError, match=r"prompt 1 has the targets \['he'\]"):
        target_probabilities(toy, prompts)


def test_a_word_is_taken_with_its_space() -> None:
    """Also by a tokenizer that puts one in front of every text."""
    model = StandardizedTransformer(standins.llama(), tokenizer=standins.tokenizer(add_prefix_space=True))
    plain = StandardizedTransformer(standins.llama(), tokenizer=standins.tokenizer())

    assert first_tokens(model, ["Mary", " Mary"]) == first_tokens(plain, ["Mary", " Mary"])


def test_a_word_without_tokens_is_refused(toy: StandardizedTransformer) -> None:
    """There is nothing to look for."""
    with pytest.raises(InputError, match="'' has no tokens"):
        first_tokens(toy, "")


def test_a_logit_difference_is_at_the_last_position() -> None:
    """One token for all prompts, or one each."""
    logits = torch.arange(24.0).reshape(2, 3, 4) ** 2
    expected = [logits[0, -1, 3] - logits[0, -1, 0], logits[1, -1, 3] - logits[1, -1, 1]]

    assert LogitDifference((3,), (0, 1))(logits).tolist() == expected


def test_a_token_too_many_is_refused() -> None:
    """With how many prompts there are."""
    with pytest.raises(ValueError, match="3 tokens for 2 prompts"):
        LogitDifference((1, 2, 3), (0,))(torch.zeros(2, 3, 4))


def test_a_difference_of_nothing_is_refused(toy: StandardizedTransformer) -> None:
    """Prompt by prompt."""
    with pytest.raises(TargetCollision):
        logit_difference(toy, [" Mary", " John"], [" John", " John"])

"""`interp attention`: where heads look."""

from __future__ import annotations

import pytest
import torch

from interp_components.model import StandardizedTransformer

from .ran import Interp

PROMPT = "Emma and Jack went to the garden"


def test_each_head_is_there_with_its_scores(interp: Interp) -> None:
    """The toy's heads are those of its card."""
    heads = interp("attention", "toy", "a b c d e a b c", "--json").facts["heads"]

    assert [(head["layer"], head["head"]) for head in heads] == [
        (layer, head) for layer in range(4) for head in range(4)
    ]
    assert {head["layer"] for head in heads if head["induction"] > 0.5} == {1}


def test_sources_are_the_largest_of_the_pattern(interp: Interp) -> None:
    """Recomputed from a trace, for a token in the middle."""
    (first, *_) = interp("attention", "toy", PROMPT, "--token", "3", "--top", "2", "--json").facts["heads"]
    model = StandardizedTransformer("toy")
    with torch.no_grad(), model.trace(PROMPT, eager=[0]):
        pattern = model.layers[0].self_attn.attention_probabilities[0, 0].save()

    expected = pattern[3].topk(2)
    assert [source["position"] for source in first["sources"]] == expected.indices.tolist()
    assert [source["share"] for source in first["sources"]] == pytest.approx(expected.values.tolist())
    assert first["first"] == pytest.approx(pattern[1:, 0].mean().item())


def test_layers_can_be_chosen(interp: Interp) -> None:
    """In the order of the model; a negative number counts from the last."""
    heads = interp("attention", "toy", PROMPT, "--layer", "-1", "--layer", "1", "--json").facts["heads"]

    assert [head["layer"] for head in heads] == [1] * 4 + [3] * 4


def test_heads_can_be_sorted_by_a_score(interp: Interp) -> None:
    """The strongest first."""
    scores = [
        head["previous"] for head in interp("attention", "toy", PROMPT, "--sort", "previous", "--json").facts["heads"]
    ]

    assert scores == sorted(scores, reverse=True)


def test_a_prompt_of_one_token_has_no_token_before(interp: Interp) -> None:
    """Scores that are means over nothing are null."""
    head = interp("attention", "toy", "a", "--layer", "0", "--json").facts["heads"][0]

    assert (head["previous"], head["first"]) == (None, None)
    assert head["sources"] == [{"position": 0, "text": head["sources"][0]["text"], "share": 1.0}]


@pytest.mark.filterwarnings("default:no family describes")
def test_layers_without_patterns_are_left_out(interp: Interp, mixed_folder: str) -> None:
    """In a model that mixes kinds of layers, those with attention are shown."""
    heads = interp("attention", mixed_folder, "abc", "--json").facts["heads"]

    assert {head["layer"] for head in heads} == {1, 2}


@pytest.mark.filterwarnings("default:no family describes")
def test_a_model_without_attention_is_refused(interp: Interp, stateful_folder: str) -> None:
    """With the command that shows what it has."""
    ran = interp("attention", stateful_folder, "abc")

    assert ran.code == 2
    assert "no layer of this model has attention with a pattern. `interp tree` shows" in ran.err


def test_a_place_that_is_not_there_is_refused(interp: Interp) -> None:
    """The message says how many there are."""
    ran = interp("attention", "toy", PROMPT, "--token", "9")

    assert ran.code == 2
    assert "--token 9 is no place of a prompt of 7 tokens, 0 to 6" in ran.err

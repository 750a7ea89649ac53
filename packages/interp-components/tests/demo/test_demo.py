"""The program that shows what is inside a model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from tests.model import standins

from interp_components.demo import experiments, markup, page, subjects, tour
from interp_components.demo.experiments import Head
from interp_components.model import StandardizedTransformer

SCRIPT = "<script>alert('&')</script>"


@pytest.fixture(scope="module")
def model() -> StandardizedTransformer:
    """A tiny Llama."""
    llama = standins.llama()
    llama.set_attn_implementation("eager")
    return StandardizedTransformer(llama, tokenizer=standins.tokenizer())


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What is said while the page below is made."""
    return []


@pytest.fixture(scope="module")
def written(model: StandardizedTransformer, said: list[str]) -> str:
    """The page of a prompt that holds markup."""
    return page.page(tour.look_inside(model, "tiny", SCRIPT, SCRIPT, said.append))


def test_markup_in_a_prompt_is_shown_as_text(written: str) -> None:
    """Neither the prompt nor its tokens become part of the page."""
    assert "<script" not in written
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;" in written


def test_the_page_needs_nothing_else(written: str) -> None:
    """No address, no script, no picture from elsewhere."""
    assert re.findall(r"https?:|src=|<link|@import|url\(", written) == []


@pytest.mark.usefixtures("written")
def test_what_is_found_is_said_in_four_parts(said: list[str]) -> None:
    """Each part begins with its question."""
    assert re.findall(r"^\d\. .*\?", "\n".join(said), re.MULTILINE) == [
        "1. What comes next?",
        "2. When does it know?",
        "3. Who notices a repetition?",
        "4. What are they for?",
    ]


def test_the_last_layer_of_the_lens_says_what_the_model_says(model: StandardizedTransformer) -> None:
    """Read with the model's own norm and head, the last residual stream is the prediction."""
    found = experiments.lens(model, "abc")

    assert found.layers[-1][-1].text == found.answer
    assert found.ranks[-1] == 0


def test_a_repetition_is_continued_without_heads_as_if_their_output_were_zero(model: StandardizedTransformer) -> None:
    """Taking a head out is the same as taking its columns out of the output projection."""
    ids = experiments.repetition(model)
    found = experiments.continued(model, ids, [Head(1, 2)])
    weight = model.layers[1].self_attn.o_proj._module.weight
    kept = weight.detach().clone()
    with torch.no_grad():
        weight[:, 16:24] = 0
        expected = experiments.continued(model, ids)
        weight.copy_(kept)

    assert found == pytest.approx(expected, abs=1e-5)


def test_a_repetition_comes_twice(model: StandardizedTransformer) -> None:
    """After the first token, the second half of each row is the first."""
    ids = experiments.repetition(model)[:, 1:]

    assert torch.equal(ids[:, : experiments.ROUND], ids[:, experiments.ROUND :])


@pytest.mark.parametrize("offset", [-1, 1 - experiments.ROUND], ids=["previous", "induction"])
def test_a_head_that_always_looks_at_one_place_scores_one(offset: int) -> None:
    """The scores are shares of attention."""
    length = 2 * experiments.ROUND + 1
    pattern = torch.zeros(1, 1, length, length)
    pattern.diagonal(offset, -2, -1).fill_(1)
    scores = experiments.diagonals(pattern)

    assert (scores.previous.item(), scores.induction.item()) == ((1, 0) if offset == -1 else (0, 1))


def test_bystanders_are_the_least_heads_of_the_same_layers() -> None:
    """A layer without others left lends from elsewhere."""
    scores = torch.tensor([[0.9, 0.1, 0.2], [0.0, 0.0, 0.0], [0.8, 0.7, 0.6]])

    assert experiments.bystanders(scores, [Head(0, 0)]) == [Head(0, 1)]
    assert {head.layer for head in experiments.bystanders(scores, [Head(2, 0), Head(2, 1), Head(2, 2)])} == {1}


@pytest.mark.parametrize(
    ("asked", "installed", "expected"),
    [(None, False, "toy"), (None, True, "SmolLM2.gguf"), ("toy", True, "toy"), ("some/name", True, "some/name")],
    ids=["nothing installed", "installed", "toy", "name"],
)
def test_the_demo_runs_on_the_best_model_at_hand(
    asked: str | None, installed: bool, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for comes first, then the larger model, then the one that is always there."""
    package = tmp_path / subjects.PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('not to be imported')")
    if installed:
        (package / "SmolLM2.gguf").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    assert Path(subjects.subject(asked).source).name == Path(expected).name


def test_spaces_and_line_ends_of_tokens_are_seen() -> None:
    """A token is shown with marks for what has no ink."""
    assert markup.shown(" a\n") == "·a⏎"


def test_nothing_in_a_token_steers_a_terminal() -> None:
    """Characters that are no text are spelled out."""
    assert markup.shown("\x1b[31m\u202e") == r"\x1b[31m\u202e"

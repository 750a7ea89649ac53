"""A model that no family describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.families import test_bloom, test_gemma2, test_gpt_neox, test_llama, test_phi
from tests.families.subject import BLOCK_VALUES
from tests.model import standins
from torch import Tensor
from transformers import PreTrainedModel

from interp_components import families
from interp_components.errors import Unavailable
from interp_components.model import GuessedFamilyWarning, StandardizedTransformer, UnsupportedFamily
from tests import models

FAMILIES = {
    "llama": test_llama.TestLlama,
    "gpt_neox": test_gpt_neox.TestSequential,
    "phi": test_phi.TestPhi,
    "gemma2": test_gemma2.TestGemma2,
    "bloom": test_bloom.TestBloom,
}
CONTRIBUTIONS = ("self_attn.attention_output", "mlp.mlp_output")


Wrap = Callable[[PreTrainedModel], StandardizedTransformer]


@pytest.fixture
def wrap(monkeypatch: pytest.MonkeyPatch) -> Wrap:
    """Wraps a model as if no family described its architecture."""

    def undescribed(module: PreTrainedModel) -> StandardizedTransformer:
        with monkeypatch.context() as patch:
            patch.setattr(families, "lookup", lambda model_type: None)
            return StandardizedTransformer(module, tokenizer=standins.tokenizer())

    return undescribed


def guessed(wrap: Wrap, module: PreTrainedModel) -> StandardizedTransformer:
    with pytest.warns(GuessedFamilyWarning, match=r"families\.register"):
        return wrap(module)


def read(root: Any, name: str) -> Tensor:
    part, _, value = name.rpartition(".")
    seen: list[Tensor] = []
    block = root.layers[1]
    models.run(root, lambda: seen.append(getattr(getattr(block, part) if part else block, value).clone()))
    return seen[0]


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_served_is_what_the_family_serves(name: str, wrap: Wrap) -> None:
    """A guess may lack values, and has none that is another."""
    model, known = guessed(wrap, FAMILIES[name].built()), models.wrap(FAMILIES[name].built())
    served = [value for value in BLOCK_VALUES if model.support(1).get(value) is None]

    assert served
    assert [value for value in served if not torch.equal(read(model, value), read(known, value))] == []


@pytest.mark.parametrize("name", FAMILIES)
def test_a_check_of_a_guess_tells_what_was_guessed_wrong(name: str, wrap: Wrap) -> None:
    """The values that are served fit together, and what is absent says that no family describes the architecture."""
    report = guessed(wrap, FAMILIES[name].built()).check(models.inputs(padded=False))
    absent = [finding.says for finding in report.findings if finding.outcome == "absent"]

    # What follows the output head is in no forward of a block, and Gemma 2 caps its logits there.
    wrong = {"project_on_vocab(last layer_output) == logits"} if name == "gemma2" else set()

    assert {finding.what for finding in report.failures} == wrong
    assert [says for says in absent if "no family describes this architecture" not in says] == []


@pytest.mark.parametrize(
    ("name", "lacking"),
    [("llama", ()), ("gpt_neox", ()), ("phi", ()), ("gemma2", CONTRIBUTIONS), ("bloom", CONTRIBUTIONS)],
)
def test_a_contribution_is_served_when_the_forward_shows_that_it_is_one(
    name: str, lacking: tuple[str, ...], wrap: Wrap
) -> None:
    """A norm behind a part, or a residual added inside of it, makes its output something else."""
    table = guessed(wrap, FAMILIES[name].built()).support(0)

    assert tuple(value for value in CONTRIBUTIONS if table[value] is not None) == lacking


def test_what_is_not_shown_says_why_and_the_way_out(wrap: Wrap) -> None:
    """The reason names the module, and how to register a family."""
    model = guessed(wrap, FAMILIES["gemma2"].built())
    with pytest.raises(Unavailable, match=r"does not show that it adds what 'mlp' returns.*families\.register"):
        models.run(model, lambda: model.layers[0].mlp.mlp_output)


def test_it_is_traced_as_any_model(wrap: Wrap) -> None:
    """Text in, values and logits out, a block left out."""
    model = guessed(wrap, standins.llama())
    with model.trace("ab"):
        embeddings = model.token_embeddings.save()
        model.skip_layer(0)
        hidden = model.layers[1].layer_input.save()

    assert torch.equal(hidden, embeddings)


def test_without_a_known_name_of_the_blocks_it_is_refused(wrap: Wrap) -> None:
    """The error lists what was found and how to say the rest."""
    module = standins.llama()
    module.model.stack = module.model._modules.pop("layers")
    with pytest.raises(
        UnsupportedFamily, match=r"no layers, norm under.*found: embed_tokens at 'model.embed_tokens'.*register"
    ):
        wrap(module)

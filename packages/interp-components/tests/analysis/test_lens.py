"""What the model would say after each block."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from interp_components.analysis import TranslatorError, logit_lens
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects

PROMPT = "When Mary and John went to the shop, John gave a ring to"


def test_the_last_block_says_what_the_model_says(model: StandardizedTransformer) -> None:
    """In every family, whatever it does to logits last."""
    with torch.no_grad():
        expected = model._module(subjects.prompts(0)).logits

    torch.testing.assert_close(logit_lens(model, subjects.prompts(0)).logits[-1], expected, rtol=1e-4, atol=1e-5)


def test_an_earlier_block_goes_through_norm_and_head(llama: StandardizedTransformer) -> None:
    """Recomputed from a hidden state that transformers returns."""
    module = llama._module
    with torch.no_grad():
        hidden = module(subjects.prompts(0), output_hidden_states=True).hidden_states[1]
        expected = module.lm_head(module.model.norm(hidden))

    torch.testing.assert_close(logit_lens(llama, subjects.prompts(0)).logits[0], expected)


def test_a_position_is_that_position(llama: StandardizedTransformer) -> None:
    """One position keeps its axis."""
    whole, last = logit_lens(llama, subjects.prompts(0)), logit_lens(llama, subjects.prompts(0), positions=-1)

    assert tuple(last.logits.shape) == (models.LAYERS, 2, 1, models.VOCAB)
    torch.testing.assert_close(last.logits[:, :, 0], whole.logits[:, :, -1])
    assert last.input_ids.tolist() == whole.input_ids[:, -1:].tolist()


@pytest.mark.parametrize("count", [models.LAYERS - 1, models.LAYERS], ids=["all_but_the_last", "all"])
def test_a_translator_comes_before_the_norm(llama: StandardizedTransformer, count: int) -> None:
    """A tuned lens; the last block needs no translator."""
    torch.manual_seed(0)
    translators = nn.ModuleList([nn.Linear(models.HIDDEN, models.HIDDEN), nn.Identity()][:count])
    module = llama._module
    with torch.no_grad():
        hidden = module(subjects.prompts(0), output_hidden_states=True).hidden_states[1]
        expected = module.lm_head(module.model.norm(translators[0](hidden)))
    lens = logit_lens(llama, subjects.prompts(0), translators=list(translators))

    torch.testing.assert_close(lens.logits[0], expected)
    torch.testing.assert_close(lens.logits[-1], logit_lens(llama, subjects.prompts(0)).logits[-1])


def test_a_wrong_number_of_translators_is_refused(llama: StandardizedTransformer) -> None:
    """With both numbers."""
    with pytest.raises(TranslatorError, match="3 translators for 2 blocks"):
        logit_lens(llama, subjects.prompts(0), translators=[nn.Identity()] * 3)


def test_the_toy_knows_the_answer_from_the_second_block_on(toy: StandardizedTransformer) -> None:
    """Top tokens and ranks say the same."""
    lens = logit_lens(toy, PROMPT)

    assert [next(iter(top)) for top in lens.top(1)][1:] == [" Mary"] * 3
    assert lens.ranks(" Mary")[1:].tolist() == [0, 0, 0]
    assert lens.ranks(" Mary")[0].item() > 0
    assert repr(lens) == "Lens[layer=4 batch=1 seq=14 vocab=2048]"
    torch.testing.assert_close(lens.probabilities.sum(-1), torch.ones(4, 1, 14))

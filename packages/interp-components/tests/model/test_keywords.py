"""Keyword arguments that nobody takes are refused, and those that somebody takes are not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.model import standins
from torch import nn
from transformers import PreTrainedModel

from interp_components.model import StandardizedTransformer, UnknownKeyword
from interp_components.model.keywords import check


@pytest.fixture(params=["gpt2", "llama"])
def model(request: pytest.FixtureRequest) -> StandardizedTransformer:
    """One whose forward says what its further arguments are, and one whose forward does not."""
    module: PreTrainedModel = getattr(standins, request.param)()
    return StandardizedTransformer(module, tokenizer=standins.tokenizer())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("output_hiden_states", "did you mean 'output_hidden_states'"),
        ("eagr", "did you mean 'eager'"),
        ("remote", "see ExecutorBackend of tracer_core"),
        ("scan", "with model.scan"),
        ("xyzzy", "in silence. An invoke or a trace takes the keyword arguments of the model's forward."),
    ],
)
def test_a_name_that_nobody_knows_is_refused_with_the_way_out(
    model: StandardizedTransformer, name: str, found: str
) -> None:
    """By a trace, a scan and an invoke; before the model runs."""
    calls: list[Any] = []
    handle = model._module.register_forward_pre_hook(lambda *_: calls.append(1))
    with pytest.raises(UnknownKeyword, match=rf"^{name}= is known neither.*{found}"), model.trace([1], **{name: True}):
        pass
    with pytest.raises(UnknownKeyword), model.scan([1], **{name: True}):
        pass
    with pytest.raises(UnknownKeyword), model.trace() as tracer, tracer.invoke([1], **{name: True}):
        pass
    handle.remove()

    assert calls == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"output_hidden_states": True, "return_dict": True},
        {"use_cache": False, "cache": None},
        {"attention_mask": torch.ones(1, 2, dtype=torch.long), "token_type_ids": None, "labels": [1, 2]},
        {"logits_to_keep": 1, "num_items_in_batch": 3},
    ],
)
def test_what_some_part_of_the_forward_knows_goes_through(
    model: StandardizedTransformer, arguments: dict[str, Any]
) -> None:
    """Arguments of a decorator, of the loss or of a kernel are no strangers."""
    with model.trace([1, 2], **arguments):
        logits = model.output.logits.save()

    assert logits.shape[0] == 1


def test_a_former_name_goes_through_with_the_warning_of_transformers(model: StandardizedTransformer) -> None:
    """Which says what the name is now."""
    with pytest.warns(FutureWarning, match="Use `cache` instead"), model.trace([1, 2], past_key_values=None):
        logits = model.output.logits.save()

    assert logits.shape[0] == 1


def test_a_forward_that_is_not_transformers_own_takes_what_it_likes() -> None:
    """Only its writer knows what becomes of its keyword arguments."""

    class Own(nn.Module):
        def forward(self, x: torch.Tensor, **options: Any) -> torch.Tensor:
            return x * options["factor"]

    check([Own()], ["factor"])


def test_options_of_a_generation_are_those_of_generate(model: StandardizedTransformer) -> None:
    """Its own check says which it does not know."""
    with model.generate([1, 2], max_new_tokens=1, do_sample=False) as tracer:
        ids = tracer.result.save()

    assert ids.shape == (1, 3)
    with pytest.raises(ValueError, match="max_new_tokenz"), model.generate([1, 2], max_new_tokenz=1):
        pass

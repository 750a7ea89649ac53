"""What the main door adds to the cost of a trace, counted in calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.counting import calls
from transformers import GPT2Config, GPT2LMHeadModel

from interp_components.model import StandardizedTransformer

IDS = torch.arange(2, 18).reshape(2, 8)


def over_bare(layers: int, traced: Callable[[StandardizedTransformer], object]) -> int:
    """The calls of a trace over those of the bare forward."""
    config = GPT2Config(
        n_layer=layers, n_embd=32, n_head=4, vocab_size=64, n_positions=32, bos_token_id=0, eos_token_id=1,
        attn_implementation="eager",
    )  # fmt: skip
    model = StandardizedTransformer(GPT2LMHeadModel(config).eval())
    with torch.no_grad():
        return calls(lambda: traced(model)) - calls(lambda: model._module(IDS))


def empty(model: StandardizedTransformer) -> None:
    """A trace that asks for nothing."""
    with model.trace(IDS):
        _ = 1


def patterns(model: StandardizedTransformer) -> None:
    """The attention pattern of each block."""
    with model.trace(IDS):
        [layer.self_attn.attention_probabilities for layer in model.layers].save()


@pytest.mark.parametrize(
    ("layers", "traced", "limit"),
    [
        pytest.param(12, empty, 230, id="nothing"),
        pytest.param(1, patterns, 370, id="one pattern"),
        pytest.param(12, patterns, 1780, id="twelve patterns"),
    ],
)
def test_a_trace_costs_no_more_calls_than_this(
    layers: int, traced: Callable[[StandardizedTransformer], object], limit: int
) -> None:
    """Reading an input takes a look at it and at the embedding, and at no other module."""
    assert over_bare(layers, traced) <= limit

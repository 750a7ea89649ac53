"""What a trace costs, counted in calls over the bare forward: the same on every machine."""

import pytest
import torch
from tests.counting import calls
from transformers import GPT2Config, GPT2LMHeadModel

from interp_components.tracing import Traceable
from tracer_core import save


@pytest.fixture(scope="module")
def deep():
    """Twelve layers, as GPT-2 small has."""
    torch.manual_seed(0)
    config = GPT2Config(n_layer=12, n_embd=32, n_head=4, vocab_size=128, n_positions=64, bos_token_id=0, eos_token_id=1)
    return Traceable(GPT2LMHeadModel(config).eval())


@pytest.fixture
def over(gpt2, ids):
    """The calls of a function over those of the bare forward."""
    with torch.no_grad():
        bare = calls(lambda: gpt2._module(ids))
        yield lambda function: calls(function) - bare


def test_a_wrapped_model_outside_a_trace_is_the_bare_model(gpt2, ids, over):
    """Not one call is added, also after traces."""
    with gpt2.trace(ids):
        gpt2.transformer.h[1].output.save()

    assert over(lambda: gpt2._module(ids)) == 0


def _empty(model, x, blocks):
    with model.trace(x):
        _ = 1


def _one(model, x, blocks):
    with model.trace(x):
        save([blocks[0].output])


def _all(model, x, blocks):
    with model.trace(x):
        save([block.output for block in blocks])


def _parts(model, x, blocks):
    with model.trace(x):
        for block in blocks:
            save([block.attn.output, block.mlp.output, block.output])


def _edits(model, x, blocks):
    with model.trace(x):
        for block in blocks:
            block.output = block.output * 2


@pytest.mark.parametrize(
    ("traced", "limit"),
    [
        pytest.param(_empty, 76, id="nothing"),
        pytest.param(_one, 116, id="one block"),
        pytest.param(_all, 372, id="all twelve blocks"),
        pytest.param(_parts, 990, id="attention, mlp and block, all twelve"),
        pytest.param(_edits, 515, id="all twelve blocks edited"),
    ],
)
def test_a_trace_costs_no_more_calls_than_this(deep, ids, traced, limit):
    """Calls over the bare forward of twelve layers; what a trace does for modules it does not name is nothing."""
    blocks = list(deep.transformer.h)
    with torch.no_grad():
        bare = calls(lambda: deep._module(ids))
        cost = calls(lambda: traced(deep, ids, blocks)) - bare

    assert cost <= limit


def test_a_further_read_costs_no_more_calls_than_this(gpt2, ids, over):
    """The difference between three reads and one."""
    blocks = list(gpt2.transformer.h)

    def three():
        with gpt2.trace(ids):
            save([blocks[0].output, blocks[1].output, blocks[2].output])

    assert (over(three) - over(lambda: _one(gpt2, ids, blocks))) / 2 <= 24

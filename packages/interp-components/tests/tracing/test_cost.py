"""What a trace costs, counted in calls over the bare forward: the same on every machine."""

import gc
import sys

import pytest
import torch

from tracer_core import save


def calls(function):
    """How many Python and C functions a warm call of `function` calls."""
    for _ in range(3):
        function()
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # what the collector calls on the way is nobody's cost
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


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


def test_the_cost_of_reads(gpt2, ids, over):
    """An empty trace, the first read, and each further one."""
    blocks = list(gpt2.transformer.h)

    def empty():
        with gpt2.trace(ids):
            _ = 1

    def one():
        with gpt2.trace(ids):
            save([blocks[0].output])

    def three():
        with gpt2.trace(ids):
            save([blocks[0].output, blocks[1].output, blocks[2].output])

    costs = over(empty), over(one) - over(empty), (over(three) - over(one)) / 2

    assert [cost <= limit for cost, limit in zip(costs, (80, 60, 30), strict=True)] == [True] * 3, costs

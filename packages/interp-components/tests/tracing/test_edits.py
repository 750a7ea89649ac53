"""`with model.edit() as (tracer, edited):` - blocks that stay."""

import linecache

import pytest
import torch
from torch import nn

from interp_components.saving import save


@pytest.fixture
def expected(chain, x):
    return chain._module(x), chain._module.second(chain._module.first(x) * 0)


def test_a_copy_is_edited_and_the_model_is_not(chain, x, expected):
    """The copy shares the weights and has the edit."""
    with chain.edit() as (_, edited):
        edited.first.output = edited.first.output * 0
    with chain.trace(x):
        plain = chain.output.save()
    with edited.trace(x):
        changed = edited.output.save()

    assert (torch.equal(expected[0], plain), torch.equal(expected[1], changed)) == (True, True)


def test_an_edit_in_place_stays_until_it_is_cleared(chain, x, expected):
    """Every trace runs it, and `clear_edits` ends that."""
    results = []
    with chain.edit(inplace=True):
        chain.first.output = chain.first.output * 0
    for _ in range(2):
        with chain.trace(x):
            result = chain.output.save()
        results.append(torch.equal(expected[1], result))
    chain.clear_edits()
    with chain.trace(x):
        result = chain.output.save()

    assert (results, torch.equal(expected[0], result)) == ([True, True], True)


def test_the_block_of_a_trace_sees_the_edited_value(chain, x):
    """Edits come before the block at one place."""
    with chain.edit(inplace=True):
        chain.first.output = chain.first.output * 0
    with chain.trace(x):
        read = chain.first.output.save()

    assert not read.any()


def test_edits_reach_every_invoke(chain, x, expected):
    """An edit sees the whole batch."""
    with chain.edit(inplace=True):
        chain.first.output = chain.first.output * 0
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            one = chain.output.save()
        with tracer.invoke(x[1:]):
            chain.output.save()

    assert torch.allclose(expected[1][:1], one)


def test_an_edit_keeps_the_values_that_its_names_had(chain, x, monkeypatch):
    """Edits written in a loop are each about their own round, at module level too."""
    namespace = {"chain": chain}
    text = (
        "for name in ('first', 'second'):\n"
        "    with chain.edit(inplace=True):\n"
        "        chain.get(name).output[:] = len(name)\n"
    )
    monkeypatch.setitem(linecache.cache, "<edits>", (len(text), None, text.splitlines(keepends=True), "<edits>"))
    exec(compile(text, "<edits>", "exec"), namespace)
    with chain.trace(x):
        first = chain.first.output.clone().save()
        second = chain.second.output.clone().save()

    assert (first.mean().item(), second.mean().item()) == (5.0, 6.0)


def test_an_edit_begins_anew_in_every_trace(chain, x):
    """What an edit binds in one run is not there in the next."""
    count, seen = 0, []
    with chain.edit(inplace=True):
        count += 1
        seen.append(count)
    for _ in range(2):
        with chain.trace(x):
            chain.output.save()

    assert seen == [1, 1]


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x)


@pytest.fixture
def adapted(chain):
    """A chain whose first module has an adapter, as an edit that every pass goes through."""
    chain.first.adapter = Adapter()
    with chain.edit(inplace=True) as tracer:
        for _ in tracer.iter[:]:
            chain.first.output = chain.first.adapter(chain.first.output, hook=True)
    return chain


def test_a_block_sees_inside_a_module_that_an_edit_calls(adapted, x):
    """`hook=True` lets others watch the call; a block that ends there does not end the edit."""
    with adapted.trace(x):
        inner = adapted.first.adapter.inner.output.save()

    module = adapted._module.first
    assert torch.equal(inner, module.adapter.inner(module(x)))


def test_a_loop_in_an_edit_is_about_every_step(adapted, x):
    """The adapter runs each time that its module does."""
    with adapted.trace(x, fn="repeat") as tracer:
        count = save(len([adapted.first.adapter.inner.output for _ in tracer.iter[:3]]))

    assert count == 3

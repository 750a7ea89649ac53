"""`with tracer.invoke(x): hidden = ...` - which names are a block's own, and which are one for all blocks."""

import pytest
import torch

from tracer_core import save


def test_a_name_that_each_block_binds_first_is_its_own(chain, x):
    """What another block binds since, under the same name, does not reach it."""
    read = []
    with chain.trace() as tracer:
        for row in x.split(1):
            with tracer.invoke(row):
                hidden = chain.first.output
                chain.second.output  # meanwhile the other block comes by
                read.append(hidden)

    assert torch.equal(chain._module.first(x), torch.cat(read))


def test_blocks_that_are_written_apart_have_their_own_names_too(chain, x):
    """It is the name that counts, not the line."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            hidden = chain.first.output
            chain.second.output
            one = save(hidden)
        with tracer.invoke(x[1:]):
            hidden = chain.first.output

    assert torch.equal(chain._module.first(x)[:1], one)


def test_a_gradient_is_read_under_the_same_name_in_each_block(chain, x):
    """Each block asks for that of its own value."""
    read = []
    with chain.trace() as tracer:
        for row in x.split(1):
            with tracer.invoke(row):
                hidden, loss = chain.first.output, chain.output.sum()
                with loss.backward():
                    read.append(hidden.grad)

    assert torch.allclose(chain._module.second.weight.sum(0), torch.cat(read))


def test_after_the_run_a_name_is_what_the_last_block_made_it(chain, x):
    """The order is that of the blocks, whichever was served last."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            value = chain.second.output.save()
        with tracer.invoke(x[1:]):
            value = chain.first.output.save()

    assert torch.equal(chain._module.first(x)[1:], value)


def test_a_block_that_did_not_bind_the_name_leaves_it_to_the_others(chain, x):
    """The last block that came to it is the one that counts."""
    with chain.trace() as tracer:
        for number in range(2):
            with tracer.invoke(x[number : number + 1]):
                if number == 0:
                    first = chain.first.output.save()

    assert torch.equal(chain._module.first(x)[:1], first)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_sum_that_the_blocks_go_on_with_is_one_for_all(chain, x, steps):
    """A name that is read before it is bound holds what any block made it."""
    with chain.trace(fn="repeat", times=steps) as tracer:
        total = 0
        for row in x.split(1):
            with tracer.invoke(row):
                for _ in tracer.iter[:]:
                    rows = len(chain.output)
                    total += rows
                save(total)

    assert total == steps * len(x)


def test_a_name_that_another_block_only_reads_is_one_for_all(chain, x):
    """Values go from block to block under it."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            passed = chain.first.output
        with tracer.invoke(x[1:]):
            passed = chain.first.output
        with tracer.invoke():
            chain.second.output  # both have bound the name by then
            seen = save(passed.clone())

    assert torch.equal(chain._module.first(x)[1:], seen)

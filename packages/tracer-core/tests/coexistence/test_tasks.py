"""Tasks of one loop trace in turn, each for itself."""

import asyncio
import gc

import pytest

from tracer_core import Tracer, save, saving


async def around(n):
    """Trace before, between and after waits."""
    with Tracer():
        own = n
        first = save([own])
    await asyncio.sleep(0)
    with Tracer():
        second = save([n, first[0]])
    await asyncio.sleep(0)
    return first, second, "own" in locals(), saving.depth()


async def across(n):
    """Wait inside a block."""
    async with Tracer():
        a = n
        await asyncio.sleep(0)
        with Tracer():
            b = a + 1
        await asyncio.sleep(0)
        kept = save([a, b, saving.depth()])
    return kept, "a" in locals(), saving.depth()


async def gathered(function, count):
    return await asyncio.gather(*(function(n) for n in range(count)))


def test_tasks_that_wait_between_blocks_keep_apart():
    """Each has its own variables and marks."""
    assert asyncio.run(gathered(around, 50)) == [([n], [n, n], False, 0) for n in range(50)]


def test_tasks_that_wait_inside_blocks_keep_apart():
    """A block that waits leaves neither its depth nor its marks to the tasks that run meanwhile."""
    assert asyncio.run(gathered(across, 50)) == [([n, n + 1, 1], False, 0) for n in range(50)]


def test_a_task_cancelled_inside_a_block_leaves_nothing():
    """The block ends with the cancellation, and so does its scope."""

    async def cancelled():
        async with Tracer():
            kept = save([1])
            await asyncio.Event().wait()
        return kept

    async def main():
        task = asyncio.ensure_future(cancelled())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return saving.depth(), await around(1)

    assert asyncio.run(main()) == (0, ([1], [1, 1], False, 0))


def test_a_debug_mode_loop_traces_as_another():
    """What asyncio watches in its debug mode is not disturbed, and nothing is left unawaited."""
    result = asyncio.run(gathered(across, 5), debug=True)
    gc.collect()

    assert result == [([n, n + 1, 1], False, 0) for n in range(5)]

"""Blocks on executors: threads, processes, and what can go wrong there."""

import asyncio
import concurrent.futures
import contextvars
import gc
import math
import multiprocessing
import os
import pickle
import sys
import threading
import traceback
import weakref
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from tracer_core import (
    BlockCancelled,
    BlockTimeout,
    ExecutorBackend,
    ExecutorShutDown,
    NotPortable,
    Tracer,
    TracerError,
    WorkerDied,
    save,
)


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def processes():
    """One pool for all, since starting a process takes long."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


class Pickling(Executor):
    """Runs at once, in this process, what it was given and pickled."""

    def submit(self, function, /, *args):
        future = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(function))(*args))))
        except Exception as error:
            future.set_exception(error)
        return future


class Held(Executor):
    """Runs nothing until it is told to, or all at once."""

    def __init__(self, at_once=False):
        self.at_once = at_once
        self.work = []

    def submit(self, function, /, *args):
        future = Future()
        self.work.append((future, function))
        if self.at_once:
            self.run()
        return future

    def run(self):
        while self.work:
            future, function = self.work.pop(0)
            if future.set_running_or_notify_cancel():
                future.set_result(function())


class Wrapping(Executor):
    """Tells of a failed pickling in words of its own, by the future or at once."""

    def __init__(self, at_once):
        self.at_once = at_once

    def submit(self, function, /, *args):
        future = Future()
        try:
            pickle.dumps(function)
        except Exception:
            future.set_exception(TypeError("could not serialize"))
        if self.at_once:
            future.result()
        return future


class Failing(Executor):
    """Fails to take anything."""

    def __init__(self, error):
        self.error = error

    def submit(self, function, /, *args):
        raise self.error


@pytest.fixture(params=["threads", "processes", "pickling"])
def executor(request):
    """Executors of every kind in turn."""
    return Pickling() if request.param == "pickling" else request.getfixturevalue(request.param)


# What comes back


def test_saved_names_are_bound_for_the_caller(executor):
    """When the `with` statement has ended, the names that the block saved are bound."""
    x = 20
    with Tracer(ExecutorBackend(executor)):
        y = save([x + 1])
        n = save(math.floor(2.5))
        nothing = save(None)

    assert (y, n, nothing) == ([21], 2, None)


def test_other_names_are_not_bound(executor):
    """Names that the block did not save are as before."""
    part = "before"
    with Tracer(ExecutorBackend(executor)):
        part = [1]
        whole = save([*part, 2])

    assert (part, whole) == ("before", [1, 2])


def test_the_result_is_there_too(executor):
    """`result` gives the saved names as attributes."""
    with Tracer(ExecutorBackend(executor)) as tracer:
        y = save([1])

    assert (tracer.result().y, tracer.future.done()) == ([1], True)


def test_an_error_is_raised_by_the_with_statement(executor):
    """What the block raises leaves the `with` statement."""
    d = {}
    with pytest.raises(KeyError, match="missing"), Tracer(ExecutorBackend(executor)):
        save(d["missing"])


def test_names_saved_before_an_error_are_bound(executor):
    """What was saved before the block raised comes back."""
    d, early, late = {}, None, None
    try:
        with Tracer(ExecutorBackend(executor)):
            early = save([1])
            late = save(d["missing"])
    except KeyError:
        pass

    assert (early, late) == ([1], None)


def test_the_traceback_is_that_of_the_block(executor):
    """The traceback of an exception ends at the user's line and has no lines of the executor."""
    d = {}
    with pytest.raises(KeyError) as raised:
        with Tracer(ExecutorBackend(executor)):
            first = 1
            save(d["missing"])

    lines = traceback.extract_tb(raised.value.__traceback__)
    assert lines[-1].line == 'save(d["missing"])'
    if sys.version_info >= (3, 11):  # before, a `raise` cannot be kept out of a traceback
        assert {line.filename for line in lines} == {__file__}


# In this process


def test_threads_share_the_callers_values(threads):
    """On threads the block has the caller's own objects."""
    xs = []
    with Tracer(ExecutorBackend(threads)):
        xs.append(threading.current_thread())

    assert (len(xs), xs[0] is threading.current_thread()) == (1, False)


def test_threads_have_the_callers_context(threads):
    """On threads the block has the caller's context variables."""
    variable = contextvars.ContextVar("variable", default="default")
    variable.set("the caller's")
    with Tracer(ExecutorBackend(threads)):
        seen = save([variable.get()])

    assert seen == ["the caller's"]


def test_a_block_inside_a_block_gives_all_its_names(threads):
    """A block in a traced block gives every name it binds to the block around it."""
    with Tracer():
        with Tracer(ExecutorBackend(threads)):
            inner = [1]
        outer = save([*inner, 2])

    assert outer == [1, 2]


# In another process


def test_processes_have_copies(processes):
    """In another process the block has copies of what it reads."""
    xs = []
    with Tracer(ExecutorBackend(processes)):
        xs.append(1)
        where = save([os.getpid()])

    assert (xs, where == [os.getpid()]) == ([], False)


def test_a_block_inside_a_block_gives_what_it_saved(processes):
    """A block that a traced block sends away gives the names it saved to the block around it."""
    with Tracer():
        with Tracer(ExecutorBackend(processes)):
            inner = save([1])
        outer = save([*inner, 2])

    assert outer == [1, 2]


def test_a_class_body_may_send_a_block_away(processes):
    """A block in a class body binds what it saved in the class."""

    class Made:
        x = 1
        with Tracer(ExecutorBackend(processes)):
            y = save([x])

    assert Made.y == [1]


@pytest.mark.parametrize(
    "executor", [Pickling(), Wrapping(False), Wrapping(True)], ids=["raised", "in other words", "at once"]
)
def test_a_value_that_cannot_travel_is_named(executor):
    """The error names the value that cannot travel, whatever the executor makes of it."""
    lock = threading.Lock()
    with pytest.raises(NotPortable, match="'lock' of the block"), Tracer(ExecutorBackend(executor)):
        lock.acquire()


def test_a_value_that_cannot_travel_is_named_by_a_process_pool(processes):
    """A real pool of processes passes on which value cannot travel."""
    lock = threading.Lock()
    with pytest.raises(NotPortable, match="'lock' of the block"), Tracer(ExecutorBackend(processes)):
        lock.acquire()


def test_a_saved_value_that_cannot_travel_is_named(processes):
    """The error names the saved value that cannot come back."""
    with pytest.raises(NotPortable, match="'lock' of the block"), Tracer(ExecutorBackend(processes)):
        lock = save(threading.Lock())


def test_a_saved_value_that_cannot_be_made_again_is_named(processes):
    """The error names the saved value that cannot be made again here."""
    made = pickle.dumps(None).replace(b"N", b"cno_such_module\nno_such_name\n")
    with pytest.raises(NotPortable, match=r"'y' of the block at .* cannot be made again"):
        with Tracer(ExecutorBackend(Bringing({"y": made}))):
            y = save(1)


class Bringing(Executor):
    """Answers with names that cannot be unpickled."""

    def __init__(self, names):
        self.names = names

    def submit(self, function, /, *args):
        from tracer_core.outcomes import Outcome

        outcome = pickle.loads(pickle.dumps(function))(*args)
        future = Future()
        names = pickle.dumps(list(self.names)) + b"".join(self.names.values())
        future.set_result(Outcome(names, None, outcome.of))
        return future


def test_a_block_is_packed_at_once_if_that_is_asked_for():
    """With `ships=True` the block has the values that the objects have at the `with`, and never the caller's own."""
    held, xs = Held(), [1]
    with Tracer(ExecutorBackend(held, wait=False, ships=True)) as tracer:
        xs.append(2)
        ys = save(xs)
    xs.append(3)
    held.run()

    assert (tracer.result().ys, xs) == ([1, 2], [1, 3])


def test_a_value_that_cannot_travel_is_named_at_once_if_that_is_asked_for(threads):
    """With `ships=True` the error is raised by the `with` statement and not by the result."""
    lock = threading.Lock()
    with pytest.raises(NotPortable, match="'lock' of the block"):
        with Tracer(ExecutorBackend(threads, wait=False, ships=True)):
            lock.acquire()


# Without waiting


def test_the_with_statement_does_not_wait(executor):
    """Without waiting nothing is bound, and the result has what was saved."""
    y = "before"
    with Tracer(ExecutorBackend(executor, wait=False)) as tracer:
        y = save([1])

    assert (tracer.result(timeout=60).y, y) == ([1], "before")


def test_the_block_has_the_names_of_the_with_statement():
    """Without waiting the block has the names as they were, whatever the caller binds afterwards."""
    held, tracers = Held(), []
    for number in range(3):
        with Tracer(ExecutorBackend(held, wait=False)) as tracer:
            square = save([number**2])
        tracers.append(tracer)
    held.run()

    assert [tracer.result().square for tracer in tracers] == [[0], [1], [4]]


def test_the_block_has_the_globals_of_the_with_statement():
    """A block at the top of a module has the globals as they were, too."""
    held = Held()
    program = """
tracers = []
for number in range(3):
    with Tracer(ExecutorBackend(held, wait=False)) as tracer:
        square = save([number ** 2])
    tracers.append(tracer)
"""
    names = run_as_module(program, Tracer=Tracer, ExecutorBackend=ExecutorBackend, save=save, held=held)
    held.run()

    assert [tracer.result().square for tracer in names["tracers"]] == [[0], [1], [4]]


def run_as_module(text, **names):
    import linecache

    filename = f"<a module of {len(text)} characters>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)
    return names


def test_an_error_is_raised_by_the_result(executor):
    """Without waiting, what the block raises is raised by `result`."""
    d = {}
    with Tracer(ExecutorBackend(executor, wait=False)) as tracer:
        save(d["missing"])

    with pytest.raises(KeyError, match="missing"):
        tracer.result(timeout=60)


def test_asking_again_raises_the_same(executor):
    """Each `result` raises the exception with the traceback of that `result` alone."""
    d = {}
    with Tracer(ExecutorBackend(executor, wait=False)) as tracer:
        save(d["missing"])

    def lines():
        with pytest.raises(KeyError) as raised:
            tracer.result(timeout=60)
        return [(line.filename, line.name, line.lineno) for line in traceback.extract_tb(raised.value.__traceback__)]

    assert lines() == lines()


def test_futures_can_be_waited_for_together(executor):
    """The futures of several blocks work with `concurrent.futures.wait`."""
    futures = []
    for number in range(3):
        with Tracer(ExecutorBackend(executor, wait=False)) as tracer:
            n = save([number])
        futures.append(tracer.future)

    done, waiting = concurrent.futures.wait(futures, timeout=60)

    assert (sorted(future.result().n for future in done), waiting) == ([[0], [1], [2]], set())


def test_a_future_tells_that_the_block_runs(threads):
    """The future of a block says whether it is running."""
    started, stop = threading.Event(), threading.Event()
    with Tracer(ExecutorBackend(threads, wait=False)) as tracer:
        started.set()
        stop.wait()
    started.wait()
    running = tracer.future.running()
    stop.set()
    tracer.result()

    assert (running, tracer.future.running()) == (True, False)


@pytest.mark.parametrize("wait", [True, False])
def test_nothing_outlives_a_block_that_ended_well(wait):
    """When the caller returns, what the block had dies with it, without the garbage collector."""

    class Thing:
        """Can be referred to weakly."""

    def trace():
        thing = Thing()
        held = Held(at_once=wait)
        with Tracer(ExecutorBackend(held, wait=wait)) as tracer:
            other = save([thing])
        held.run()
        assert tracer.result().other == [thing]
        return weakref.ref(thing)

    gc.disable()
    try:
        assert trace()() is None
    finally:
        gc.enable()


# What goes wrong


def test_a_timeout_leaves_the_block_running(threads):
    """A `with` statement that waits too long says so, binds nothing, and the result can be had later."""
    stop, y = threading.Event(), "before"
    with pytest.raises(BlockTimeout, match=r"not done within 0[.]01 s[.] It goes on running"):
        with Tracer(ExecutorBackend(threads, timeout=0.01)) as tracer:
            stop.wait()
            y = save([1])
    stop.set()

    assert (tracer.result().y, y) == ([1], "before")


def test_a_timeout_of_the_block_itself_is_no_timeout_of_the_wait(executor):
    """A TimeoutError that the block raises arrives as it is."""
    with pytest.raises(TimeoutError, match=r"^the block's own$"), Tracer(ExecutorBackend(executor)):
        raise TimeoutError("the block's own")


def test_a_cancelled_block_says_so():
    """The result of a block that was cancelled in the queue says that nothing of it has run."""
    held, ran = Held(), []
    with Tracer(ExecutorBackend(held, wait=False)) as tracer:
        ran.append(1)
    cancelled = tracer.future.cancel()
    held.run()

    with pytest.raises(BlockCancelled, match=r"test_deferred.py:\d+ was cancelled before it started"):
        tracer.result()
    assert (cancelled, tracer.future.cancelled(), ran) == (True, True, [])


def test_a_finished_block_cannot_be_cancelled(threads):
    """Cancelling a block that is done changes nothing."""
    with Tracer(ExecutorBackend(threads)) as tracer:
        y = save([1])

    assert (tracer.future.cancel(), tracer.result().y) == (False, [1])


def test_an_executor_that_is_shut_down_says_so():
    """A block for an executor that is shut down is not run, and the error says why."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ExecutorShutDown, match="was not run: ThreadPoolExecutor takes no more work"):
        with Tracer(ExecutorBackend(pool)):
            pytest.fail("the block ran")


def test_a_worker_that_dies_is_told_of():
    """The death of a worker is told with the block that it ran, and so is a pool that is broken by it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with Tracer(ExecutorBackend(pool, wait=False)) as tracer:
            os._exit(1)
        with pytest.raises(WorkerDied, match="a worker died while the block at"):
            tracer.result(timeout=60)


def test_a_broken_executor_is_told_of():
    """A block for an executor that is broken already is not run."""
    with pytest.raises(WorkerDied, match="broken by an earlier block"):
        with Tracer(ExecutorBackend(Failing(concurrent.futures.BrokenExecutor("broken by an earlier block")))):
            pytest.fail("the block ran")


def test_an_error_at_the_door_arrives():
    """What an executor raises for reasons of its own, when it is handed the block, arrives as it is."""
    with pytest.raises(ArithmeticError, match="no"), Tracer(ExecutorBackend(Failing(ArithmeticError("no")))):
        pytest.fail("the block ran")


def test_an_error_of_the_executor_itself_arrives():
    """What the executor raises for reasons of its own arrives as it is."""

    class Odd(Executor):
        def submit(self, function, /, *args):
            future = Future()
            future.set_exception(ArithmeticError("the executor's own"))
            return future

    with pytest.raises(ArithmeticError, match="the executor's own"), Tracer(ExecutorBackend(Odd())):
        pytest.fail("the block ran")


def test_there_is_no_result_without_an_executor():
    """`result` of a block that ran in place says where its names are."""
    with Tracer() as tracer:
        save([1])

    with pytest.raises(TracerError, match="no executor has the block"):
        tracer.result()


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (BlockTimeout, TimeoutError),
        (BlockCancelled, CancelledError),
        (ExecutorShutDown, RuntimeError),
        (WorkerDied, concurrent.futures.BrokenExecutor),
        (NotPortable, pickle.PicklingError),
    ],
    ids=lambda kind: kind.__name__,
)
def test_errors_are_of_the_family_and_what_they_replace(error, builtin):
    """Every error here is a TracerError and the error that stands in its place without tracer_core."""
    assert issubclass(error, TracerError)
    assert issubclass(error, builtin)


# Asynchronous blocks


def test_an_asynchronous_block_does_not_hold_up_the_loop(threads):
    """While an executor runs the block of an `async with`, the event loop goes on."""

    async def main():
        loop, here = asyncio.get_running_loop(), threading.Event()
        loop.call_soon(here.set)
        async with Tracer(ExecutorBackend(threads)):
            here.wait()
            await asyncio.sleep(0)
            y = save([1])
        return y

    assert asyncio.run(main()) == [1]


def test_an_asynchronous_block_that_raises(threads):
    """What the block of an `async with` raises leaves the `async with`."""

    async def main():
        async with Tracer(ExecutorBackend(threads)):
            raise KeyError("missing")

    with pytest.raises(KeyError, match="missing"):
        asyncio.run(main())


def test_an_asynchronous_block_that_takes_too_long(threads):
    """The time that an `async with` waits is limited too."""
    stop = threading.Event()

    async def main():
        async with Tracer(ExecutorBackend(threads, timeout=0.01)):
            stop.wait()

    try:
        with pytest.raises(BlockTimeout, match=r"within 0[.]01 s"):
            asyncio.run(main())
    finally:
        stop.set()


def test_an_asynchronous_block_that_is_cancelled():
    """An `async with` whose block is cancelled in the queue says so."""

    class Cancelling(Executor):
        def submit(self, function, /, *args):
            future = Future()
            future.cancel()
            return future

    async def main():
        async with Tracer(ExecutorBackend(Cancelling())):
            pytest.fail("the block ran")

    with pytest.raises(BlockCancelled):
        asyncio.run(main())

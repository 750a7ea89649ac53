"""Threads trace at once, each for itself, also while something listens to all of them."""

import sys
import threading

import pytest

from tracer_core import Tracer, save, saving

ROUNDS = 60


def on_lines(n):
    """Trace blocks that begin a line, one inside the other, and return what came back."""
    with Tracer():
        own = n + 1
        first = save([own])
    with Tracer():
        second = own = n
        with Tracer():
            inner = [second]
        second = save([inner, saving.depth()])
    return first, second, "own" in locals()


def traced(n):
    """Trace blocks that are left in each of the ways there are."""
    with Tracer(): third = save([n])  # noqa: E701  # fmt: skip
    with Tracer():
        try:
            fourth = save([1 / 0])
        except ZeroDivisionError:
            fourth = save([n])
    return *on_lines(n), third, fourth


def expected(n):
    return [n + 1], [[n], 1], False, [n], [n]


def at_once(work, count=8):
    """Run `work(number)` in `count` threads that begin together and switch often; return what they return."""
    results, barrier = {}, threading.Barrier(count)

    def run(number):
        barrier.wait()
        try:
            results[number] = work(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return [results[number] for number in range(count)]


def work(number, trace=traced):
    """Return the rounds that came out wrong."""
    rounds = ((trace(n), expected(n)) for n in range(number, number + ROUNDS))
    return [found for found, right in rounds if found != right[: len(found)]]


def test_eight_threads_trace_the_same_lines_at_once():
    """Each has its own variables, marks and depth; no block runs in place."""
    assert at_once(work) == [[]] * 8


@pytest.mark.parametrize("listener", ["settrace", "setprofile"])
def test_threads_that_are_all_listened_to_trace(listener):
    """`threading.settrace` and `threading.setprofile` see every thread to its end."""
    seen = set()

    def listen(frame, event, argument):
        if frame.f_code is traced.__code__ and event == "return":
            seen.add(threading.get_ident())
        return listen

    current = f"get{listener.removeprefix('set')}"
    before = getattr(threading, current)()
    getattr(threading, listener)(listen)
    try:
        results = at_once(lambda number: (work(number), getattr(sys, current)() is listen, threading.get_ident()))
    finally:
        getattr(threading, listener)(before)

    assert [result[:2] for result in results] == [([], True)] * 8
    assert {result[2] for result in results} <= seen


def test_a_thread_that_starts_and_stops_listening_does_not_disturb_the_others():
    """Blocks that begin a line are held back whatever other threads do; only those inside a line can miss an event."""
    done = threading.Event()

    def toggle_or_work(number):
        if number:
            return work(number, on_lines)
        while not done.is_set():
            sys.settrace(lambda *event: None)
            sys.settrace(None)
        return []

    def to_the_end(number):
        try:
            return toggle_or_work(number)
        finally:
            if number == 1:
                done.set()

    assert at_once(to_the_end, 4) == [[]] * 4


def test_threads_trace_for_the_first_time_at_once(run):
    """What the first trace of a process sets up is ready for the thread that comes second."""
    driver = """
    import json, sys, threading
    from tracer_core import Tracer, save

    def first():
        with Tracer():
            a = save([1])
        with Tracer():
            b = save([2])
        return a + b

    def work():
        barrier.wait()
        results.append(first())

    sys.setswitchinterval(1e-6)
    results, barrier = [], threading.Barrier(8)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(json.dumps(results))
    """

    assert run(driver) == [[1, 2]] * 8

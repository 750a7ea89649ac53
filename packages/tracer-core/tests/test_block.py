"""A captured block on its own."""

import sys
import threading
import weakref
from types import CellType

from tracer_core import Tracer, save, scope


class Later(Tracer):
    """Keeps its block for later, with the values that the names around it have."""

    def execute(self, code=None):
        self.values = self.block.outer_values()


def test_a_block_inside_a_block_can_hold_what_its_names_were():
    """Run when the loop around it is over, it is about its own round."""
    with Tracer():
        kept, seen = [], save([])
        for number in range(2):
            with Later() as later:
                seen.append(number)
            kept.append(later)
        for later in kept:
            later.block.hold({name: CellType(value) for name, value in later.values.items()})
            later.block.run()

    assert seen == [0, 1]


class Releasing(Tracer):
    """Lets go of its block instead of running it."""

    def execute(self, code=None):
        self.block.release()


def test_a_released_block_holds_no_value():
    """What it reads is gone with its last other name; what it is stays."""

    class Value:
        pass

    def traced():
        value = Value()
        with Releasing() as tracer:
            seen = value  # is never run
        return tracer, weakref.ref(value)

    tracer, gone = traced()

    assert (gone(), tracer.info.frame, tracer.writes) == (None, None, ("seen",))


def test_the_outer_values_are_those_it_only_reads():
    """What it binds is one variable for both, and what is not bound has no value."""
    with Tracer():
        read, bound = 1, 2
        with Later() as later:
            bound = read + bound + unbound  # noqa: F821  # the name is bound below
        values = save(later.values)
        unbound = 3

    assert values == {"read": 1}


def run_early(tracer):
    """Run the block of the `with` statement that `tracer` is about to enter, and return `tracer`."""
    tracer.capture(sys._getframe(1))
    tracer.block.run()
    return tracer


def test_a_block_can_run_before_its_with_statement_ends():
    """A function in the header may run it; the values are those of then, and of the end for the run at the end."""
    seen = []
    number = 1
    with [run_early(Tracer()), number := 2][0]:
        seen.append(number)

    assert seen == [1, 2]


def test_a_name_that_a_block_holds_is_bound_for_the_block_alone():
    """With the value it is given, or without any; the code around keeps its own."""
    with Tracer():
        known, found = 1, save([])
        with Later() as later:
            found.append(known)
            known = new = 2
        later.block.hold({"known": CellType(7), "new": CellType()})
        later.block.run()
        found.append((known, later.block.bound()))

    assert found == [7, (1, {"known": 2, "new": 2})]


def test_threads_that_run_a_block_at_once_share_its_variables(monkeypatch):
    """A thread that asks for the variables while another makes them gets the very same."""
    others, seen = [], []
    filled = scope.filled

    def filled_slowly(names, values):
        if not others:
            others.append(threading.Thread(target=lambda: seen.append(tracer.block.cells)))
            others[0].start()
            others[0].join(0.1)  # it waits for us
        return filled(names, values)

    monkeypatch.setattr(scope, "filled", filled_slowly)
    with Tracer(lambda tracer: None) as tracer:
        seen.append(1)
    cells = tracer.block.cells
    others[0].join()

    assert seen[0] is cells

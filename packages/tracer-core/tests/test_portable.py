"""A block that travels."""

import linecache
import math
import pickle
import subprocess
import sys
import threading

import pytest

from tracer_core import NotPortable, PortableBlock, Tracer, save


def never(tracer):
    """A backend that leaves the block for later."""


def arrived(tracer):
    return pickle.loads(pickle.dumps(PortableBlock.of(tracer.block)))


class Missing:
    """A value that cannot be made again."""

    def __reduce__(self):
        return __import__, ("no_such_module",)


def test_it_runs_where_it_arrives():
    """A block that was pickled runs with the values it left with."""
    x = 2
    with Tracer(never) as tracer:
        y = save(x * 3)
    portable = arrived(tracer)
    x = 100

    assert portable.run().y == 6


def test_it_runs_with_other_values():
    """A block that was pickled can be given other values."""
    x = 2
    with Tracer(never) as tracer:
        y = save(x * 3)

    assert arrived(tracer).run(x=10).y == 30


def test_a_name_that_it_does_not_read_is_refused():
    """A name that means nothing to the block is refused at the other end too."""
    with Tracer(never) as tracer:
        save(math.pi)

    with pytest.raises(TypeError, match="called with z, but it reads no such name; it reads save, math"):
        arrived(tracer).run(z=1)


def test_it_takes_copies():
    """What a block does to a value at the other end is not seen here."""
    xs = [1]
    with Tracer(never) as tracer:
        xs.append(2)
        ys = save(xs)

    assert (arrived(tracer).run().ys, xs) == ([1, 2], [1])


def test_it_raises_what_the_block_raises():
    """An exception of the block leaves `run`."""
    d = {}
    with Tracer(never) as tracer:
        save(d["missing"])

    with pytest.raises(KeyError, match="missing"):
        arrived(tracer).run()


class Counter:
    def __init__(self, count):
        self.count = count

    def trace(self, by):
        with Tracer(never) as tracer:
            self.count += by
            total = save(self.count)
        return tracer


def test_self_travels_by_value():
    """The object whose method holds the block goes along as a copy."""
    counter = Counter(1)
    portable = arrived(counter.trace(2))

    assert ([portable.run().total, portable.run().total], counter.count) == ([3, 3], 1)


def test_it_binds_globals_at_the_other_end_only():
    """A block that declares a name global binds it in the globals it runs with, not in the module it came from."""
    with Tracer(never) as tracer:
        global made_elsewhere
        made_elsewhere = 3
        x = save([made_elsewhere])

    assert (arrived(tracer).run().x, "made_elsewhere" in globals()) == ([3], False)


def test_a_function_in_the_block_sees_its_names():
    """A function that the block defines reads the names that travelled."""
    factor = 3
    with Tracer(never) as tracer:

        def times(x):
            return x * factor

        y = save([times(x) for x in range(3)])

    assert arrived(tracer).run().y == [0, 3, 6]


def test_it_says_what_it_is():
    """The repr says where the block is written, what goes along and how much that is."""
    x = 2
    with Tracer(never) as tracer:
        save(x)

    line = tracer.block.recipe.first_line
    portable = PortableBlock.of(tracer.block)
    assert repr(portable) == f"<PortableBlock {__file__}:{line}, takes save, x, {len(portable.names)} bytes>"


def test_a_block_that_reads_nothing_takes_nothing():
    """The repr of a block without reads says so."""
    with Tracer(never) as tracer:
        1 + 1  # a block that reads nothing

    assert ", takes nothing, " in repr(PortableBlock.of(tracer.block))


def test_a_value_that_cannot_travel_is_named():
    """Packing a block names the value that cannot travel, and the block."""
    lock = threading.Lock()
    with Tracer(never) as tracer:
        lock.acquire()

    with pytest.raises(NotPortable, match=r"'lock' of the block at .*test_portable.py:\d+ cannot travel"):
        PortableBlock.of(tracer.block)


def test_an_outcome_tells_of_a_value_that_cannot_be_made_again():
    """A value that cannot be made again at the other end is the outcome of the block."""
    missing = Missing()
    with Tracer(never) as tracer:
        save(missing)

    error = arrived(tracer).outcome().error()

    assert (type(error), "'missing' of the block" in str(error)) == (NotPortable, True)


def test_an_outcome_has_what_was_saved_before_an_error():
    """The outcome of a block that raised has what it saved until then."""
    d = {}
    with Tracer(never) as tracer:
        early = save([1])
        save(d["missing"])

    outcome = arrived(tracer).outcome()

    assert (outcome.saved().early, type(outcome.error())) == ([1], KeyError)


def test_the_text_can_be_read_where_the_file_is_not():
    """Where the file does not exist, `linecache` has the lines of the blocks that arrived, in their places."""
    with Tracer(never) as tracer:
        x = save([1])
    with Tracer(never) as other:
        x = save([2])
    recipes = [one.block.recipe._replace(filename="far/away.py") for one in (tracer, other)]
    for one, recipe in zip((tracer, other), recipes, strict=True):
        PortableBlock(recipe, "far.away", ("save",), PortableBlock.of(one.block).names).run()

    lines = [linecache.getline("far/away.py", recipe.first_line + 1).strip() for recipe in recipes]

    assert lines == ["x = save([1])", "x = save([2])"]


PROGRAM = """
import json, subprocess, sys
from tracer_core import PortableBlock, Tracer, save

factor = 3

def scaled(x):
    return x * factor

def nothing(tracer): pass

with Tracer(nothing) as tracer:
    total = save([scaled(x) for x in json.loads("[1, 2]")])

import pickle
sys.stdout.buffer.write(pickle.dumps(PortableBlock.of(tracer.block)))
"""


@pytest.mark.parametrize("cloudpickle", [True, False], ids=["with cloudpickle", "pickle alone"])
def test_a_program_sends_its_own_functions(tmp_path, cloudpickle):
    """A block of a program arrives in another process with the functions and globals of `__main__` that it needs."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM if cloudpickle else "import sys; sys.modules['cloudpickle'] = None\n" + PROGRAM)
    sent = subprocess.run([sys.executable, path], capture_output=True, check=True).stdout

    assert pickle.loads(sent).run(json=__import__("json")).total == [3, 6]

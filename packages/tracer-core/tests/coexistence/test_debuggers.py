"""A debugger stops where it would stop without traces."""

import bdb
import sys

import pytest

from tracer_core import Tracer, save

BACKENDS = ["settrace", "monitoring"] if sys.version_info >= (3, 14) else ["settrace"]


def block(n):  # 0
    before = n  # 1
    with Tracer():  # 2
        inside = before + 1  # 3
        kept = save([inside])  # 4
    after = kept  # 5
    with Tracer():  # 6
        try:  # 7
            kept = save([1 / 0])  # 8
        except ZeroDivisionError:  # 9
            kept = save([0])  # 10
    after += kept  # 11
    return after  # 12


def lines_of(function):
    """Return the offset of a line from the start of `function`, for frames of this file."""
    first = function.__code__.co_firstlineno
    return lambda frame: frame.f_lineno - first if frame.f_code.co_filename == __file__ else None


class Debugger(bdb.Bdb):
    """Goes on with `command` at each stop, and notes the lines."""

    def __init__(self, command, backend):
        super().__init__(**({"backend": backend} if backend == "monitoring" else {}))
        self.command = command
        self.line_of = lines_of(block)
        self.stops = []

    def user_line(self, frame):
        line = self.line_of(frame)
        if line is not None:
            self.stops.append(line)
        if self.command == "next":
            self.set_next(frame)
        elif self.command == "step":
            self.set_step()
        else:
            self.set_continue()


@pytest.fixture(params=BACKENDS)
def debug(request):
    """Run `block` under a debugger and return its result and the lines of the stops."""
    before = sys.gettrace()

    def run_debugger(command, breakpoints=()):
        debugger = Debugger(command, request.param)
        for line in breakpoints:
            assert debugger.set_break(__file__, block.__code__.co_firstlineno + line) is None
        try:
            result = debugger.runcall(block, 1)
        finally:
            debugger.clear_all_breaks()
        return result, debugger.stops

    yield run_debugger
    sys.settrace(before)


def once(stops):
    """Return `stops` without repetitions of a line: a `with` is visited again when it is left."""
    return list(dict.fromkeys(stops))


def test_breakpoints_after_blocks_are_hit(debug):
    """In the frame that traced, once each."""
    assert debug("continue", (5, 11, 12)) == ([2, 0], [1, 5, 11, 12])


def test_breakpoints_in_blocks_are_hit(debug):
    """In the block that runs, which has the lines of its file."""
    result, stops = debug("continue", (4, 10))

    assert (result, once(stops)) == ([2, 0], [1, 4, 10])


def test_next_goes_over_blocks_and_on(debug):
    """It stops at each line of the frame that is left, to the return."""
    result, stops = debug("next")
    outside = [line for line in once(stops) if line not in {3, 4, 7, 8, 9, 10}]

    assert (result, outside) == ([2, 0], [1, 2, 5, 6, 11, 12])


def test_step_goes_into_blocks_and_on(debug):
    """It stops at each line of the blocks too, in order."""
    result, stops = debug("step")

    assert (result, once(stops)) == ([2, 0], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])


def test_pdb_at_its_prompt_goes_on_after_blocks(run):
    """Breakpoint, next and the values of variables, typed in."""
    driver = """
    import pdb, sys
    sys.argv = ["program.py"]
    sys.path.insert(0, ".")
    debugger = pdb.Pdb(nosigint=True, readrc=False)
    debugger.prompt = "\\n"
    import runpy
    debugger.run("runpy.run_path('program.py')", {"runpy": runpy})
    """
    output = run(
        driver,
        stdin="b program.py:9\nc\np ('at', b, c if 'c' in dir() else None)\nn\np ('then', c)\nc\nc\n",
        parse=False,
    )

    assert ("('at', [2], None)" in output, "('then', 2)" in output) == (True, True)

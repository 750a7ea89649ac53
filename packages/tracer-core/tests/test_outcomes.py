"""Outcomes: how a block ended in another process."""

import pickle
import sys
import threading
import traceback

import pytest

from tracer_core.failures import BlockFailed, NotPortable
from tracer_core.outcomes import Failure, Outcome


def arrived(value):
    return pickle.loads(pickle.dumps(value))


def raised_by(function):
    """Return what `function` raises, without the frame of this helper in its traceback."""
    try:
        function()
    except BaseException as error:  # groups may be of any kind
        return error.with_traceback(error.__traceback__.tb_next)


def text_of(error):
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


class Picky(Exception):
    """Pickles, but cannot be made again: pickle calls it with one argument."""

    def __init__(self, first, second):
        super().__init__(first)


class Holding(Exception):
    """Cannot be pickled."""

    def __init__(self):
        super().__init__("held")
        self.lock = threading.Lock()


def plain():
    return {}["missing"]


def several_lines():
    return (
        1
        + {}["é", "missing"]
    )  # fmt: skip


def caused():
    try:
        plain()
    except KeyError as error:
        raise ValueError("no such") from error


def in_handling():
    try:
        plain()
    except KeyError:
        raise ValueError("no such")  # noqa: B904  # the context is what is tested


def suppressed():
    try:
        plain()
    except KeyError:
        raise ValueError("no such") from None


def unprintable_cause():
    raise ValueError("no such") from Holding()


def own_cause():
    error = ValueError("round")
    error.__cause__ = error
    raise error


@pytest.mark.parametrize(
    "function",
    [plain, several_lines, caused, in_handling, suppressed, own_cause],
    ids=lambda function: function.__name__,
)
def test_an_exception_reads_the_same_after_the_trip(function):
    """Traceback lines, carets, causes and contexts print as they would where the exception was raised."""
    error = raised_by(function)

    assert text_of(arrived(Failure.pack(error, "the block")).unpack()) == text_of(error)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with 3.11")
def test_the_members_of_a_group_keep_their_tracebacks():
    """The exceptions in a group print as they would where the group was raised."""

    def grouped():
        raise ExceptionGroup("some", [raised_by(plain), raised_by(caused)])  # noqa: F821  # 3.11+

    error = raised_by(grouped)

    assert text_of(arrived(Failure.pack(error, "the block")).unpack()) == text_of(error)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes came with 3.11")
def test_notes_arrive():
    """Notes on an exception arrive with it."""
    error = raised_by(plain)
    error.add_note("by the way")

    assert arrived(Failure.pack(error, "the block")).unpack().__notes__ == ["by the way"]


def test_a_place_without_columns_shows_no_carets():
    """A traceback from a Python that knows no columns prints its lines alone."""
    failure = Failure.pack(raised_by(plain), "the block")
    (raised,) = failure.raised
    places = tuple(place._replace(column=-1, end_column=-1) for place in raised.places)

    error = Failure(failure.errors, (raised._replace(places=places),), "the block").unpack()

    assert text_of(error).splitlines()[-2:] == ['    return {}["missing"]', "KeyError: 'missing'"]


def _lines_alone(units):
    """A line table in which `units` code units are all of the first line, and of no column.

    Each entry stands for up to eight units. A table for more units than there are makes a tracer write past its memory.
    """
    full, rest = divmod(units, 8)
    return b"\xef\x00" * full + (bytes([0xE8 | (rest - 1), 0]) if rest else b"")


def test_a_line_that_has_no_columns_travels():
    """A traceback entry whose code says nothing about columns keeps its line."""
    code = compile("1/0", "made.py", "exec")
    if sys.version_info >= (3, 11):
        code = code.replace(co_linetable=_lines_alone(len(code.co_code) // 2))
    error = raised_by(lambda: exec(code))

    unpacked = arrived(Failure.pack(error, "the block")).unpack()

    last = traceback.extract_tb(unpacked.__traceback__)[-1]
    assert (last.filename, last.lineno) == ("made.py", traceback.extract_tb(error.__traceback__)[-1].lineno)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(Picky("a", "b"), "Picky: a (the exception itself could not travel:", id="cannot be made again"),
        pytest.param(Holding(), "Holding: held (the exception itself could not travel:", id="cannot be pickled"),
    ],
)
def test_an_exception_that_cannot_travel_is_told_of(error, message):
    """An exception that cannot travel arrives as a `BlockFailed` that names it and why."""
    assert str(arrived(Failure.pack(error, "the block")).unpack()).startswith(message)


def test_an_exception_that_cannot_travel_leaves_its_traceback():
    """The stand-in of an exception that cannot travel has the original's traceback."""

    def fail():
        raise Picky("a", "b")

    error = arrived(Failure.pack(raised_by(fail), "the block")).unpack()

    assert [entry.name for entry in traceback.extract_tb(error.__traceback__)] == ["fail"]


def test_a_cause_that_cannot_travel_is_told_of():
    """Only the cause is replaced where only the cause cannot travel."""
    error = arrived(Failure.pack(raised_by(unprintable_cause), "the block")).unpack()

    assert (type(error), type(error.__cause__)) == (ValueError, BlockFailed)


def test_an_outcome_has_the_saved_names():
    """A block that ends well gives the names it saved and no error."""
    outcome = arrived(Outcome.of_run(lambda: None, lambda: {"total": 3}, "the block"))

    assert (outcome.saved().total, outcome.error()) == (3, None)


def test_an_outcome_has_both_after_an_error():
    """A block that raises gives what it saved until then and the error."""
    outcome = arrived(Outcome.of_run(plain, lambda: {"total": 3}, "the block"))

    assert (outcome.saved().total, repr(outcome.error())) == (3, "KeyError('missing')")


def test_a_saved_value_that_cannot_travel_is_named():
    """A saved value that cannot travel back is an error that names it."""
    outcome = arrived(Outcome.of_run(lambda: None, lambda: {"lock": threading.Lock()}, "the block at app.py:3"))

    error = outcome.error()
    assert (type(error), "'lock' of the block at app.py:3" in str(error)) == (NotPortable, True)


def test_the_error_of_the_block_comes_first():
    """Where the block raised and a saved value cannot travel either, the block's own error is the one that is told."""
    outcome = arrived(Outcome.of_run(plain, lambda: {"lock": threading.Lock()}, "the block"))

    assert repr(outcome.error()) == "KeyError('missing')"

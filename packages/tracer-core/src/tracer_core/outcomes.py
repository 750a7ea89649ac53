"""How a block ended in another process, as a value that travels back.

A block ends with the names it saved, and perhaps with an exception.  pickle drops what makes an exception readable:
its traceback, `__cause__` and `__context__`.  An outcome takes all three along.  The traceback is made again from
places (file, function, line, columns), so the caller sees the user's own lines, with carets, and none of the pool's.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple

from tracer_core.failures import BlockFailed, NotPortable
from tracer_core.parcels import pack, unpack
from tracer_core.results import Saved
from tracer_core.tracebacks import is_hidden


class Place(NamedTuple):
    """One entry of a traceback; columns are 0-based utf-8 offsets, -1 where Python does not know them."""

    filename: str
    function: str
    line: int
    end_line: int
    column: int
    end_column: int


class Raised(NamedTuple):
    """What pickle leaves out of an exception; other exceptions are given by their index in the failure."""

    places: tuple[Place, ...]
    cause: int | None
    context: int | None
    suppress_context: bool


@dataclass(frozen=True)
class Failure:
    """An exception and all that it is chained to, the one that left the block first."""

    errors: bytes
    raised: tuple[Raised, ...]
    of: str

    @classmethod
    def pack(cls, error: BaseException, of: str) -> Failure:
        """Return `error` as a value that travels; `of` names the block."""
        errors = list(_family(error))
        index = {id(one): number for number, one in enumerate(errors)}
        raised = tuple(
            Raised(
                tuple(_places(one.__traceback__)),
                None if one.__cause__ is None else index[id(one.__cause__)],
                None if one.__context__ is None else index[id(one.__context__)],
                one.__suppress_context__,
            )
            for one in errors
        )
        return cls(pack({str(number): _portable(one) for number, one in enumerate(errors)}, of), raised, of)

    def unpack(self) -> BaseException:
        """Return the exception with its traceback, causes and contexts."""
        errors = list(unpack(self.errors, self.of).values())
        for error, raised in zip(errors, self.raised, strict=True):
            error.__traceback__ = _traceback(raised.places)
            error.__cause__ = None if raised.cause is None else errors[raised.cause]
            error.__context__ = None if raised.context is None else errors[raised.context]
            error.__suppress_context__ = raised.suppress_context
        first: BaseException = errors[0]
        return first


@dataclass(frozen=True)
class Outcome:
    """The names that a block saved and the exception that ended it, if one did."""

    names: bytes
    failure: Failure | None
    of: str

    @classmethod
    def of_run(cls, run: Callable[[], None], saved: Callable[[], dict[str, Any]], of: str) -> Outcome:
        """Run a block and return how it ended; what it saved before an exception comes back too."""
        failure = None
        try:
            run()
        except Exception as error:
            failure = Failure.pack(error, of)
        try:
            return cls(pack(saved(), of), failure, of)
        except NotPortable as error:
            return cls(pack({}, of), failure or Failure.pack(error, of), of)

    def saved(self) -> Saved:
        """Return the saved names."""
        return Saved(**unpack(self.names, self.of))

    def error(self) -> BaseException | None:
        """Return the exception that ended the block, or None."""
        return self.failure.unpack() if self.failure else None


def _family(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and every exception that it leads to (cause, context, members of a group), each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def _portable(error: BaseException) -> BaseException:
    """Return `error`, or a `BlockFailed` in its place if it cannot be pickled or made again.

    Many exception classes pickle well and fail later, when they are made again with the wrong arguments.
    """
    try:
        unpack(pack({"error": error}, "the block"), "the block")
    except NotPortable as why:
        return BlockFailed(f"{type(error).__name__}: {error} (the exception itself could not travel: {why.__cause__})")
    return error


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _places(traceback: TracebackType | None) -> Iterator[Place]:
    """Yield the entries of a traceback that a user should see."""
    for entry in _entries(traceback):
        code = entry.tb_frame.f_code
        if not is_hidden(code.co_filename):
            yield Place(code.co_filename, code.co_name, entry.tb_lineno, *_span(entry))


def _span(entry: TracebackType) -> tuple[int, int, int]:
    """Return end line, column and end column of what raised."""
    if sys.version_info >= (3, 11):
        positions = islice(entry.tb_frame.f_code.co_positions(), entry.tb_lasti // 2, None)
        _, end_line, column, end_column = next(positions)
        if end_line is not None and column is not None and end_column is not None:
            return end_line, column, end_column
    return entry.tb_lineno, -1, -1


def _traceback(places: tuple[Place, ...]) -> TracebackType | None:
    traceback = None
    for place in reversed(places):
        entry = _entry(place)
        traceback = TracebackType(traceback, entry.tb_frame, entry.tb_lasti, place.line)
    return traceback


class _Here(Exception):
    """Raised at a place in order to have a traceback entry there; never leaves this module."""


def _entry(place: Place) -> TracebackType:
    """Return a traceback entry at `place`: that of a `raise` compiled to stand there."""
    span = (place.line, place.column, place.end_line, place.end_column)
    name, statement = ast.Name("here", ast.Load()), ast.Raise()
    for node in (name, statement):
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = span
    statement.exc = name
    code = compile(ast.Module([statement], []), place.filename, "exec", dont_inherit=True)
    try:
        exec(code.replace(co_name=place.function), {"here": _Here})
    except _Here as here:
        *_, last = _entries(here.__traceback__)
    return last

"""Every error a user of `with Tracer():` can meet, with its words.

Each message says what was asked, where, what was found and the way out. `TracerError` is the root of all of them, and
each is also the builtin error it is by nature, so `except ValueError` and `except SyntaxError` catch what they promise.
`ExitTracingException` is no error: it is how a block is left before its first instruction, and no user sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any


class TracerError(Exception):
    """The root of the errors of this package."""


class WithBlockNotFoundError(TracerError, RuntimeError):
    """The tracer was entered, or captured, somewhere that is not a `with` statement."""


class SourceNotAvailable(WithBlockNotFoundError):
    """No text can be found for the code around the block, and its bytecode cannot stand in for it."""


class StaleSource(WithBlockNotFoundError):
    """The text found for the block is not the text of the code that runs."""


class UnsupportedBody(TracerError, SyntaxError):
    """The block holds a statement that means nothing in code that runs later; carries file, line and column."""


class TraceSuspended(TracerError, RuntimeError):
    """Python reports no events here (inside a trace function, a debugger's prompt, or where other tools have taken all ids of
    `sys.monitoring`), so the block cannot be held back."""


class SaveOutsideTrace(TracerError, ValueError):
    """`save` was called while no trace was running."""


class ExitTracingException(Exception):
    """Leaves a `with` block before anything of it runs. Control flow: `Tracer.__exit__` always takes it."""

    has_displaced = False
    """Whether there were trace functions that have to be put back."""
    local_trace: Callable[..., Any] | None = None
    """What the frame's own trace function was."""
    tracer: Callable[..., Any] | None = None
    """What the thread's trace function was."""


def place(code: CodeType, line: int) -> str:
    """Return `file:line`, the way the messages name a place."""
    return f"{code.co_filename}:{line}"


def not_a_with(code: CodeType, line: int) -> WithBlockNotFoundError:
    """Return the error for a tracer that was entered by hand, by `ExitStack` or through another manager."""
    where = f"{place(code, line)} (in {code.co_name})"
    if code.co_filename.endswith("contextlib.py"):
        found = "it was entered by contextlib (an ExitStack, or a @contextmanager function)"
    else:
        found = "there is no `with` statement there that enters it"
    return WithBlockNotFoundError(
        f"A tracer was entered at {where}, but {found}, so there is no block to hold back. "
        "Write `with <tracer>:` directly around the block."
    )


def no_source(code: CodeType, line: int, reason: str = "") -> SourceNotAvailable:
    """Return the error for code whose text cannot be had."""
    because = f" ({reason})" if reason else ""
    return SourceNotAvailable(
        f"The block at {place(code, line)} has no source text that can be read back{because}. "
        "A block needs text that can be read back: a file, a notebook cell, a program given to `python -c`. "
        "A program piped into stdin leaves none: run it by its file name. "
        "Code made at run time can register its text in `linecache.cache`."
    )


def stale(code: CodeType, line: int, text: str, reason: str) -> StaleSource:
    """Return the error for text that is not that of the running code, which cannot be used either for `reason`."""
    shown = f" That line now reads: {text.strip()!r}." if text.strip() else ""
    return StaleSource(
        f"The block at {place(code, line)} cannot be traced: the text found there is not what is running.{shown} "
        f"Nor can the block be taken from the running bytecode: {reason}. "
        "The file was changed after it was imported, or a cell magic or a code generator moved its lines. "
        "Import it again or restart Python."
    )


def ran_in_place(code: CodeType, line: int) -> TracerError:
    """Return the error for a block that Python ran before it could be held back."""
    return TracerError(
        f"The block at {place(code, line)} ran in place instead of being handed to its backend: something switched "
        "Python's trace events off between the entry and the first statement of the block. Its effects have happened "
        "once; the backend was not called."
    )


def suspended(frame: FrameType) -> TraceSuspended:
    """Return the error for the block that `frame` enters, which would run in place because Python reports no events."""
    return TraceSuspended(
        f"The block at {place(frame.f_code, frame.f_lineno)} cannot be held back here: this code runs inside a trace, profile or "
        "monitoring callback (a debugger's prompt, for instance), where Python reports no events. Nothing of the "
        "block was run. Run it outside of the callback."
    )


def no_tool(code: CodeType, line: int) -> TraceSuspended:
    """Return the error for a block that only instruction events can hold back, where nobody can have them."""
    return TraceSuspended(
        f"The block at {place(code, line)} cannot be held back: it takes events of single instructions, as a block does that "
        "begins inside a line or with `try`, and the ids that `sys.monitoring` has for tools are all taken. Nothing of the "
        "block was run. Free one with `sys.monitoring.free_tool_id`, or begin the block with a plain statement on a line of "
        "its own."
    )


def save_outside() -> SaveOutsideTrace:
    """Return the error for `save` with no trace running."""
    return SaveOutsideTrace(
        "save() was called outside a trace. It marks what a trace hands back, so it belongs inside the block: "
        "move the call under the `with`."
    )


def unsupported(what: str, filename: str, position: tuple[int, int, int, int], text: str | None) -> UnsupportedBody:
    """Return the error for a statement that cannot be part of a traced block, pointing at it."""
    line, column, end_line, end_column = position
    return UnsupportedBody(what, (filename, line, column + 1, text, end_line, end_column + 1))

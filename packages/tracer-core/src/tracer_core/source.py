"""The text of the running code: files, notebook cells, `-c`, stdin, the REPL, loaders.

`SOURCES.lines(frame)` asks, in this order:

1. `linecache`, with the frame's globals: files, what a loader (a zip file's, for instance) can give, notebook cells, doctests,
   and whatever a program registered there itself;
2. `linecache` by the code object, where 3.13 and later keep the lines of the REPL and of `-c`;
3. the command line, for a program given to `python -c`;
4. standard input, where it is a file that can be read once more.

What was found is remembered with what identifies its version, and is never trusted: `verify` holds it against the code that
runs, and asks for a `refresh` when they differ.
"""

from __future__ import annotations

import io
import linecache
import os
import stat
import sys
import time
from collections import OrderedDict
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import NamedTuple

# The options of `python` that take the next argument, or the rest of their own, as their value.
_TAKES_VALUE = "cmWX"


class Source(NamedTuple):
    """The text of one file, as it was found."""

    lines: list[str]
    origin: str
    """Where it was found: "file", "loader", "linecache", "repl", "command line" or "stdin"."""
    version: tuple[int, float] | None
    """Size and time of change of the file, where it is one."""
    read_at: float
    """When it was found, in seconds since the epoch."""


class SourceCache:
    """What was read, from where and when, per file name; bounded."""

    def __init__(self, limit: int = 256) -> None:
        self._limit = limit
        self._found: OrderedDict[str, Source] = OrderedDict()

    def lines(self, frame: FrameType) -> list[str]:
        """Return the lines of the text that `frame` was compiled from, empty if there is none to be found."""
        found = self.find(frame.f_code, frame.f_globals)
        return [] if found is None else found.lines

    def find(self, code: CodeType, names: dict[str, object]) -> Source | None:
        """Return the text that `code` was compiled from, or None; `names` are its globals, which know its loader."""
        filename = code.co_filename
        known = self._found.get(filename)
        # `linecache` is asked by attribute, since doctest replaces its function, and each time, since others change it.
        lines = linecache.getlines(filename, names)
        if lines:
            if known is not None and known.lines is lines:
                return known
            return self._keep(filename, _from_linecache(filename, lines))
        if known is not None and known.origin in {"command line", "stdin"}:
            return known
        found = _elsewhere(code)
        return None if found is None else self._keep(filename, found)

    def refresh(self, filename: str) -> None:
        """Forget the text of `filename` if the file has changed."""
        linecache.checkcache(filename)
        self._found.pop(filename, None)

    def clear(self) -> None:
        """Forget all that was read."""
        self._found.clear()

    def _keep(self, filename: str, found: Source) -> Source:
        self._found[filename] = found
        self._found.move_to_end(filename)
        while len(self._found) > self._limit:
            self._found.popitem(last=False)
        return found


# The texts that were read by any tracer.
SOURCES = SourceCache()


def text(filename: str) -> str:
    """Return the text of `filename` as far as it is known by its name alone, or an empty string."""
    lines = linecache.getlines(filename)
    if not lines and filename == "<string>":
        lines = command_line(sys.orig_argv)
    return "".join(lines)


def _from_linecache(filename: str, lines: list[str]) -> Source:
    entry = linecache.cache.get(filename)
    if entry is None or len(entry) == 1:
        return Source(lines, "linecache", None, time.time())
    size, changed = entry[0], entry[1]
    if changed is None:
        return Source(lines, "loader" if os.path.isabs(filename) else "linecache", None, time.time())
    return Source(lines, "file", (size, changed), time.time())


def _elsewhere(code: CodeType) -> Source | None:
    by_code = getattr(linecache, "_getlines_from_code", None)  # 3.13 and later; `inspect` uses it as well
    lines = by_code(code) if by_code is not None else []
    if lines:
        return Source(lines, "repl", None, time.time())
    if code.co_filename == "<string>":
        lines = command_line(sys.orig_argv)
        return Source(lines, "command line", None, time.time()) if lines else None
    if code.co_filename == "<stdin>":
        lines = standard_input()
        return Source(lines, "stdin", None, time.time()) if lines else None
    return None


def command_line(arguments: Sequence[str]) -> list[str]:
    """Return the lines of the program in `python -c PROGRAM`, in any spelling (`-Bc`, `-cPROGRAM`, after other options)."""
    rest = iter(arguments[1:])
    for argument in rest:
        if not argument.startswith("-") or argument.startswith("--"):
            if argument in {"--check-hash-based-pycs"}:
                next(rest, None)
                continue
            return []
        for index, letter in enumerate(argument[1:], start=2):
            if letter not in _TAKES_VALUE:
                continue
            value = argument[index:] or next(rest, "")
            if letter == "c":
                return _program(value)
            if letter == "m":
                return []
            break
    return []


def split(text: str) -> list[str]:
    """Return the lines of `text` as Python counts them; `str.splitlines` also splits at form feeds and others."""
    return list(io.StringIO(text, newline=None))


def _program(value: str) -> list[str]:
    return split(value if value.endswith("\n") else value + "\n")


def standard_input() -> list[str]:
    """Return the lines of standard input if it is a file, which can be read again without moving in it."""
    try:
        status = os.fstat(0)
        if not stat.S_ISREG(status.st_mode):
            return []
        return split(os.pread(0, status.st_size, 0).decode(errors="replace"))
    except OSError:  # no standard input
        return []

"""Facts about CPython's code objects, per version, in one place.

Everything here is about what runs when Python reaches `with Tracer() as t:`: which instruction enters the manager, where
the store of the `as` target ends, which instructions an exception handler covers.
Offsets are in bytes, as in `frame.f_lasti`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

# Not from `dis`, which takes as long to import as the warm half of this package.
from opcode import HAVE_ARGUMENT, hasjabs, hasjrel, opmap, stack_effect
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from tracer_core.versions import V311, V312, V313, V314

Position: TypeAlias = "tuple[int | None, int | None, int | None, int | None]"

_OP = opmap
EXTENDED_ARG = _OP["EXTENDED_ARG"]
_CACHE = _OP.get("CACHE", -1)
_SENTINEL = -1
_SYNC_ENTER = _OP.get("BEFORE_WITH", _OP.get("SETUP_WITH", _SENTINEL))
_ASYNC_ENTER = _OP.get("BEFORE_ASYNC_WITH", _SENTINEL)
_LOAD_SPECIAL = _OP.get("LOAD_SPECIAL", _SENTINEL) if V314 else _SENTINEL
_CALL = _OP.get("CALL", _SENTINEL)
_JUMP_FORWARD = _OP["JUMP_FORWARD"]
_JUMPS = frozenset(hasjrel).union(hasjabs)
_STORE_AND_LOAD = _OP.get("STORE_FAST_LOAD_FAST", _SENTINEL) if V313 else _SENTINEL
_ASYNC_LANDING = frozenset(_OP[name] for name in ("SETUP_ASYNC_WITH", "END_SEND") if name in _OP)
_SEND = _OP.get("SEND", _SENTINEL)
# The argument of LOAD_SPECIAL for `__aenter__`.
_AENTER = 2
_ENTERING = re.compile(
    b"|".join(re.escape(bytes([opcode])) for opcode in (_SYNC_ENTER, _ASYNC_ENTER, _LOAD_SPECIAL) if 0 <= opcode < 256),
    re.DOTALL,
)


def _newer(code: CodeType) -> Any:
    """Return `code` for what the type checker, which takes 3.10 as its measure, does not know code to have."""
    return code


def qualified_name(code: CodeType) -> str:
    """Return the qualified name of `code`; 3.10 knows the name only."""
    name: str = _newer(code).co_qualname if V311 else code.co_name
    return name


def instructions(raw: bytes, start: int = 0) -> Iterator[tuple[int, int, int, int]]:
    """Yield the instructions of `code.co_code` from the byte `start` on: offset, offset of the next, operation, argument.

    The offset of an instruction with EXTENDED_ARG prefixes is that of the first prefix: this is where its line starts and
    where trace events report it.
    """
    position, size = start, len(raw)
    while position < size:
        offset, arg = position, raw[position + 1]
        while raw[position] == EXTENDED_ARG:
            position += 2
            arg = arg << 8 | raw[position + 1]
        opcode = raw[position]
        position += 2
        while position < size and raw[position] == _CACHE:
            position += 2
        yield offset, position, opcode, arg


class Enter(NamedTuple):
    """The instruction that enters a manager, and the first one that runs after it (the store of the `as` target)."""

    offset: int
    after: int
    is_async: bool


def enter_at(raw: bytes, offset: int) -> Enter | None:
    """Return the entering of a `with` item that the instruction at `offset` does, or None if it does something else."""
    _, after, opcode, _ = next(instructions(raw, offset))
    if opcode == _CALL and offset >= 2 and raw[offset - 2] == _LOAD_SPECIAL:
        is_async = raw[offset - 1] == _AENTER  # the other two are not called at once
    elif opcode in {_SYNC_ENTER, _ASYNC_ENTER}:
        is_async = opcode == _ASYNC_ENTER
    else:
        return None
    return Enter(offset, _landing(raw, after) if is_async else after, is_async)


def awaited_at(raw: bytes, offset: int) -> Enter | None:
    """Return the entering of an `async with` item whose `__aenter__` is being awaited at `offset`, or None."""
    return next((enter for enter in enters(raw) if enter.is_async and enter.offset < offset < enter.after), None)


def _landing(raw: bytes, start: int) -> int:
    """Return where an `async with` goes on once `__aenter__` has been awaited."""
    stream = instructions(raw, start)
    while True:
        _, following, opcode, arg = next(stream)
        if opcode in _ASYNC_LANDING:
            return following
        if opcode == _SEND and not V312:
            return following + 2 * arg


def enters(raw: bytes, start: int = 0) -> Iterator[Enter]:
    """Yield every entering of a `with` item from `start` on, in the order of the bytecode."""
    for match in _ENTERING.finditer(raw, start):
        offset = match.start()
        if offset % 2:  # an argument, not an operation
            continue
        if _LOAD_SPECIAL != _SENTINEL:
            offset += 2
        while offset >= 2 and raw[offset - 2] == EXTENDED_ARG:
            offset -= 2
        enter = enter_at(raw, offset)
        if enter is not None:
            yield enter


class TargetStore(NamedTuple):
    """The store of the `as` target: its last instruction, and the first one after it, where the body begins."""

    last: int
    end: int
    has_branches: bool
    """Whether it jumps; each branch may then have a copy of its end, and of a body that only raises."""


def target_store(raw: bytes, start: int) -> TargetStore:
    """Return where the store of the entered value, which begins at `start`, ends: where the stack is as before the enter.

    Follows one path through conditional expressions in the target (`as table[a if b else c]`); all of them meet before
    the store. A superinstruction that stores the target and loads for the body counts as part of the store.
    """
    depth, position, has_branches = 1, start, False
    while True:
        offset, following, opcode, arg = next(instructions(raw, position))
        depth += stack_effect(opcode, arg if opcode >= HAVE_ARGUMENT else None, jump=False)
        if depth <= 0 or (depth == 1 and opcode == _STORE_AND_LOAD):
            return TargetStore(offset, following, has_branches)
        has_branches = has_branches or opcode in _JUMPS
        position = following
        if opcode == _JUMP_FORWARD:
            position += 2 * arg


class Handler(NamedTuple):
    """One entry of the exception table: the bytes it covers, where it goes, how deep the stack is there."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def exception_table(code: CodeType) -> list[Handler]:
    """Return the exception table of `code` (3.11+), in order."""
    return list(_handlers(code))


def _handlers(code: CodeType) -> Iterator[Handler]:
    """Yield the entries of the exception table of `code` (3.11+), in order.

    Source: Objects/exception_handling_notes.txt in CPython.
    """
    table: Iterator[int] = iter(_newer(code).co_exceptiontable)

    def varint() -> int:
        byte = next(table)
        value = byte & 63
        while byte & 64:
            byte = next(table)
            value = value << 6 | byte & 63
        return value

    while True:
        try:
            start = varint() * 2
        except StopIteration:
            return
        end = start + varint() * 2
        target = varint() * 2
        depth = varint()
        yield Handler(start, end, target, depth >> 1, bool(depth & 1))


def is_covered(code: CodeType, after_enter: int, offset: int) -> bool:
    """Return whether an exception raised at `offset` reaches the `__exit__` of the manager entered before `after_enter`.

    A body that begins with `try` begins with a NOP that the table leaves out, and a body without any instruction, such as
    a bare annotation, with the call of `__exit__`. 3.10 has blocks instead of a table, and they cover it.
    """
    if not V311:
        return True
    handler = None
    for entry in _handlers(code):
        if entry.start > offset:
            break
        if entry.start <= after_enter < entry.end:
            handler = entry.target
        if entry.start <= offset < entry.end:
            return entry.target == handler
    return False


def starts_line(code: CodeType, offset: int) -> bool:
    """Return whether a line event happens at `offset`."""
    before = None
    for start, _, line in code.co_lines():
        if start >= offset:
            return start == offset and line is not None and line != before
        before = before if line is None else line
    return False


def positions(code: CodeType, start: int = 0) -> list[Position]:
    """Return line, end line, column and end column of each two bytes of code from `start` on; 3.10 knows lines only."""
    if V311:
        return list(itertools.islice(_newer(code).co_positions(), start // 2, None))
    found: list[Position] = []
    for begin, end, line in code.co_lines():
        found.extend([(line, line, None, None)] * ((end - begin) // 2))
    return found[start // 2 :]


def position(code: CodeType, offset: int) -> Position:
    """Return line, end line, column and end column of the instruction at `offset`; 3.10 knows the line only."""
    if V311:
        found: Position = next(itertools.islice(_newer(code).co_positions(), offset // 2, None))
        return found
    line = line_at(code, offset)
    return line, line, None, None


def line_at(code: CodeType, offset: int) -> int | None:
    """Return the line of the instruction at `offset`."""
    for start, end, line in code.co_lines():
        if start <= offset < end:
            return line
    return None

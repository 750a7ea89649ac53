"""Instructions of a running function, read where they are asked for: what `carve` walks over.

CPython 3.11 to 3.15. What differs between the versions is one table, `DIALECTS`; all else is the same on each:
two bytes to an instruction, `EXTENDED_ARG` in front of it, cache words behind it (read as zeroes from `co_code`,
also while a profiler or `sys.monitoring` has instrumented the function), jumps relative to the end of the caches.
"""

from __future__ import annotations

import dis
import sys
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from types import CodeType, MappingProxyType
from typing import NamedTuple

from tracer_core import bytecode
from tracer_core.bytecode import Handler

Position = tuple["int | None", "int | None", "int | None", "int | None"]
"""First line, last line, first column, last column: what `co_positions` gives for one code unit."""


class CannotCarve(Exception):
    """The body of the `with` cannot be taken out of the bytecode; the message says why, `line` where."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


class Dialect(NamedTuple):
    """What one minor version calls the things that a carve has to recognise.

    Source: Python/codegen.c (3.14+) or Python/compile.c, `compiler_with`, `compiler_async_with`; Lib/dis.py.
    """

    exit_call: tuple[tuple[str, int], ...]
    """What calls `__exit__` when the block ends normally, after three loads of None."""
    none: tuple[str, int]
    """What loads None; the number is looked up in `co_consts` where the name is LOAD_CONST."""
    swallowed: int
    """How many instructions clear the stack after `__exit__` has swallowed an exception."""
    wraps_stop_iteration: bool
    """Whether a coroutine turns StopIteration into RuntimeError by an exception handler of its own."""


_CONST = ("LOAD_CONST", -1)

DIALECTS = MappingProxyType(
    {
        (3, 11): Dialect((("PRECALL", 2), ("CALL", 2)), _CONST, 4, False),
        (3, 12): Dialect((("CALL", 2),), _CONST, 4, True),
        (3, 13): Dialect((("CALL", 2),), _CONST, 4, True),
        (3, 14): Dialect((("CALL", 3),), _CONST, 5, True),
        (3, 15): Dialect((("CALL", 3),), ("LOAD_COMMON_CONSTANT", 7), 5, True),
    }
)

PAIRS = MappingProxyType(
    {
        "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
        "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
        "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST_BORROW", "LOAD_FAST_BORROW"),
    }
)
"""Two instructions in one (3.13+), four bits of the argument each; read as two, so that a block may start between."""

ENDS = frozenset({
    "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE",
    "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT",
})  # fmt: skip
"""Instructions after which the next one is not reached."""

_JUMPS = frozenset(dis.hasjrel)


def is_backward(op: str) -> bool:
    """Tell whether the argument of jump `op` counts backwards; END_ASYNC_FOR points back without jumping (3.14+)."""
    return "BACKWARD" in op or op == "END_ASYNC_FOR"


class Instruction(NamedTuple):
    """One instruction; of a pair, the second half has the odd place."""

    place: int
    """Its offset in bytes, where its `EXTENDED_ARG` starts; one more for the second half of a pair."""
    op: str
    arg: int
    following: int
    """The place of the next one."""
    target: int | None
    """The place that its argument points to."""
    caches: int

    @property
    def opcode(self) -> int:
        """The number of `op`."""
        return dis.opmap[self.op]

    def effect(self, *, jump: bool) -> int:
        """Return by how much it changes the depth of the stack."""
        return dis.stack_effect(self.opcode, self.arg if self.opcode >= dis.HAVE_ARGUMENT else None, jump=jump)


class Instructions:
    """The instructions of one code object, decoded where they are asked for, never all of them."""

    def __init__(self, code: CodeType) -> None:
        """Read the exception table of `code`; the instructions follow when asked for."""
        self.code = code
        self.dialect = dialect()
        self._bytes = code.co_code
        self._known: dict[int, Instruction] = {}
        self._covers = bytecode.exception_table(code)
        self._starts = [cover.start for cover in self._covers]

    def at(self, place: int) -> Instruction:
        """Return the instruction at `place`."""
        if place not in self._known:
            self._decode(place)
        return self._known[place]

    def __iter__(self) -> Iterator[Instruction]:
        """Iterate over all instructions, first to last."""
        place = 0
        while place < len(self._bytes):
            instruction = self.at(place)
            yield instruction
            place = instruction.following

    def cover(self, place: int) -> Handler | None:
        """Return where an exception of the instruction at `place` goes, None when out of the function."""
        row = bisect_right(self._starts, place) - 1
        return self._covers[row] if row >= 0 and place < self._covers[row].end else None

    def line(self, place: int) -> int | None:
        """Return the line of the instruction at `place`."""
        return self.positions([place])[place][0]

    def positions(self, places: list[int]) -> dict[int, Position]:
        """Return the position of each of `places`, which are in ascending order."""
        found: dict[int, Position] = {}
        if sys.version_info >= (3, 11):
            units, seen = self.code.co_positions(), 0
            for place in places:
                if place // 2 >= seen:
                    position = next(islice(units, place // 2 - seen, None))
                    seen = place // 2 + 1
                found[place] = position
        return found

    def loads_none(self, instruction: Instruction) -> bool:
        """Tell whether `instruction` pushes None."""
        op, arg = self.dialect.none
        if instruction.op == "LOAD_CONST":
            return self.code.co_consts[instruction.arg] is None
        return instruction.op == op and instruction.arg == arg

    def _decode(self, place: int) -> None:
        start, arg = place, self._bytes[place + 1]
        while self._bytes[place] == dis.EXTENDED_ARG:
            place += 2
            arg = arg << 8 | self._bytes[place + 1]
        op, following = dis.opname[self._bytes[place]], place + 2
        if op in PAIRS:
            first, second = PAIRS[op]
            self._known[start] = Instruction(start, first, arg >> 4, start + 1, None, 0)
            self._known[start + 1] = Instruction(start + 1, second, arg & 15, following, None, 0)
            return
        while following < len(self._bytes) and self._bytes[following] == dis.opmap["CACHE"]:
            following += 2
        target = None
        if self._bytes[place] in _JUMPS:
            target = following - 2 * arg if is_backward(op) else following + 2 * arg
        self._known[start] = Instruction(start, op, arg, following, target, (following - place) // 2 - 1)


def dialect() -> Dialect:
    """Return the table of the running version.

    Raises:
        CannotCarve: this minor version is not in the table, or it is not CPython.
    """
    known = DIALECTS.get(sys.version_info[:2])
    if known is None or sys.implementation.name != "cpython":
        name = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
        raise CannotCarve(f"the bytecode of {name} is not known (known: CPython 3.11 to 3.15)")
    return known

"""Instructions put together into code: arguments, caches, jumps, exception table and line table.

`carve` decides what is run; this module writes it down. Formats: InternalDocs/exception_handling.md and
InternalDocs/code_objects.md (Objects/locations.md before 3.14), the same from CPython 3.11 to 3.15.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from itertools import accumulate, chain, groupby
from typing import NamedTuple

from tracer_core.bytecode import Handler
from tracer_core.carve.instructions import Position, is_backward

NOWHERE: Position = (None, None, None, None)


class Emitted(NamedTuple):
    """One instruction to write; labels are places of the original code."""

    op: str
    arg: int = 0
    caches: int = 0
    position: Position = NOWHERE
    label: int | None = None
    """What `target` of another one may name."""
    target: int | None = None
    cover: Handler | None = None
    """Where its exceptions go; `target` is a label."""


class Assembled(NamedTuple):
    """What goes into a code object."""

    code: bytes
    exception_table: bytes
    line_table: bytes


def assemble(emitted: list[Emitted], first_line: int) -> Assembled:
    """Return `emitted` as bytes; `first_line` is the line that the code object is said to begin at."""
    index = {item.label: number for number, item in enumerate(emitted) if item.label is not None}
    args, offsets = _laid_out(emitted, index)
    code = b"".join(
        _encoded(item, args[number], offsets[number + 1] - offsets[number]) for number, item in enumerate(emitted)
    )
    return Assembled(code, _exception_table(emitted, index, offsets), _line_table(emitted, offsets, first_line))


def _laid_out(emitted: list[Emitted], index: dict[int, int]) -> tuple[list[int], list[int]]:
    """Return the argument of each instruction and the offset of each, in code units, with that of the end.

    A jump over an argument that needs one more `EXTENDED_ARG` gets longer and may need one itself. Sizes only
    grow from round to round: one that could shrink again might never settle.
    """
    args = [item.arg for item in emitted]
    sizes = [_size(item, arg) for item, arg in zip(emitted, args, strict=True)]
    while True:
        offsets = [0, *accumulate(sizes)]
        for number, item in enumerate(emitted):
            if item.target is not None:
                distance = offsets[index[item.target]] - offsets[number + 1]
                args[number] = -distance if is_backward(item.op) else distance
        grown = [max(size, _size(item, arg)) for size, item, arg in zip(sizes, emitted, args, strict=True)]
        if grown == sizes:
            return args, offsets
        sizes = grown


def _size(item: Emitted, arg: int) -> int:
    """Return the length of an instruction in code units."""
    return max(1, (arg.bit_length() + 7) // 8) + item.caches


def _encoded(item: Emitted, arg: int, size: int) -> bytes:
    """Return the bytes of one instruction."""
    prefixes = size - item.caches - 1
    opcodes = bytes([dis.EXTENDED_ARG] * prefixes + [dis.opmap[item.op]])
    units = bytes(chain.from_iterable(zip(opcodes, arg.to_bytes(prefixes + 1, "big"), strict=True)))
    return units + bytes(2 * item.caches)


def _exception_table(emitted: list[Emitted], index: dict[int, int], offsets: list[int]) -> bytes:
    """Return the exception table: one row for each run of instructions with the same cover."""
    table = bytearray()
    for cover, run in groupby(range(len(emitted)), key=lambda number: emitted[number].cover):
        numbers = list(run)
        if cover is not None:
            start, stop = offsets[numbers[0]], offsets[numbers[-1] + 1]
            row = (start, stop - start, offsets[index[cover.target]], cover.depth << 1 | cover.lasti)
            encoded = [byte for value in row for byte in _big_endian(value)]
            table += bytes((encoded[0] | 128, *encoded[1:]))
    return bytes(table)


def _line_table(emitted: list[Emitted], offsets: list[int], first_line: int) -> bytes:
    """Return the line table: each instruction with its lines and columns, at most eight code units to an entry."""
    table = bytearray()
    line = first_line
    for number, item in enumerate(emitted):
        for offset in range(offsets[number], offsets[number + 1], 8):
            units = min(8, offsets[number + 1] - offset)
            first, last, column, last_column = item.position
            if first is None:
                table.append(128 | 15 << 3 | units - 1)
            elif last is None or column is None or last_column is None:
                table.append(128 | 13 << 3 | units - 1)
                table += bytes(_signed(first - line))
                line = first
            else:
                table.append(128 | 14 << 3 | units - 1)
                table += bytes((*_signed(first - line), *_little_endian(last - first)))
                table += bytes((*_little_endian(column + 1), *_little_endian(last_column + 1)))
                line = first
    return bytes(table)


def _big_endian(value: int) -> list[int]:
    """Return `value` in groups of six bits, the highest first; bit 6 says that more follow."""
    groups = [value & 63]
    while value := value >> 6:
        groups.append(value & 63 | 64)
    return groups[::-1]


def _little_endian(value: int) -> Iterator[int]:
    """Give `value` in groups of six bits, the lowest first; bit 6 says that more follow."""
    while value > 63:
        yield value & 63 | 64
        value >>= 6
    yield value


def _signed(value: int) -> Iterator[int]:
    """Give a number that may be negative: its sign is the lowest bit."""
    return _little_endian(-value << 1 | 1 if value < 0 else value << 1)

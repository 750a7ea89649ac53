"""What the variables of a code object are called, and which instruction means which.

`with Tracer() as t:` ends with an instruction that stores `t`; whether that is a local, a cell or a global, and under what
number the instruction knows it, differs by version. `frames` knows the instructions, this module their names.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

from tracer_core.bytecode import instructions, positions
from tracer_core.frames import CO_OPTIMIZED
from tracer_core.versions import V311

if TYPE_CHECKING:
    from tracer_core.locate import Region

_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_LOAD_NAME = dis.opmap["LOAD_NAME"]
_GLOBAL_OPS = frozenset(dis.opmap[name] for name in ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL"))


def global_names(code: CodeType) -> set[str]:
    """Return the names that `code` reaches by a global instruction, in spite of a variable of the same name."""
    names = code.co_names
    if not {*code.co_varnames, *code.co_cellvars, *code.co_freevars}.intersection(names):
        return set()
    shift = 1 if V311 else 0
    return {
        names[arg >> shift if opcode == _LOAD_GLOBAL else arg]
        for _, _, opcode, arg in instructions(code.co_code)
        if opcode in _GLOBAL_OPS
    }


def looked_up(code: CodeType) -> set[str]:
    """Return the names that `code`, that of a class, looks up in its namespace and, where they are not there, as globals."""
    names = code.co_names
    return {names[arg] for _, _, opcode, arg in instructions(code.co_code) if opcode == _LOAD_NAME}


class Slots(NamedTuple):
    """The names that the arguments of `*_FAST` and `*_DEREF` operations stand for."""

    fast: tuple[str, ...]
    cells: tuple[str, ...]
    closed: frozenset[str]
    """The names that are cells."""


def slots(code: CodeType) -> Slots:
    """Return the names of the slots of `code`: since 3.11 one row of variables, cells that are no variables, free variables."""
    closed = frozenset(code.co_cellvars + code.co_freevars)
    if not V311:
        return Slots(code.co_varnames, code.co_cellvars + code.co_freevars, closed)
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    row = code.co_varnames + cells + code.co_freevars
    return Slots(row, row, closed)


def variables_read(code: CodeType, offset: int) -> tuple[str, ...]:
    """Return the variables, cells left out, that the instruction at `offset` reads."""
    _, _, opcode, arg = next(instructions(code.co_code, offset))
    name = dis.opname[opcode]
    if not name.startswith("LOAD_FAST") and name != "STORE_FAST_LOAD_FAST":
        return ()
    row = slots(code).fast
    if name.count("LOAD_FAST") > 1:
        return row[arg >> 4], row[arg & 15]
    return (row[arg & 15 if name.startswith("STORE") else arg],)


def stored_name(code: CodeType, offset: int) -> str | None:
    """Return the name that the instruction at `offset` binds, or None if it does something else."""
    _, _, opcode, arg = next(instructions(code.co_code, offset))
    match dis.opname[opcode]:
        case "STORE_FAST":
            return slots(code).fast[arg]
        case "STORE_FAST_LOAD_FAST":
            return slots(code).fast[arg >> 4]
        case "STORE_DEREF":
            return slots(code).cells[arg]
        case "STORE_NAME" | "STORE_GLOBAL":
            return code.co_names[arg]
    return None


def discards(code: CodeType, offset: int) -> bool:
    """Return whether the instruction at `offset` drops the entered value, for a `with` without a target."""
    return code.co_code[offset] == dis.opmap["POP_TOP"]


# Names by which code may reach its variables without naming them.
_INTROSPECTION = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "breakpoint", "set_trace"}
)


def unread(code: CodeType, region: Region) -> frozenset[str]:
    """Return the variables of the function `code` that it reads nowhere outside of `region`.

    On 3.14 and later each write to a variable from outside pins its old value until the frame ends, so a loop of traces
    would hold what every round has saved. Cells are free of that.
    """
    if not code.co_flags & CO_OPTIMIZED or _INTROSPECTION.intersection(code.co_names):
        return frozenset()
    where = positions(code)
    read = {*code.co_cellvars, *code.co_freevars}
    for offset, _, _, _ in instructions(code.co_code):
        if not region.holds(where[offset // 2]):
            read.update(variables_read(code, offset))
    return frozenset(code.co_varnames).difference(read)

"""The body of a `with` as a function, taken out of the bytecode that is running: the way where no text matches it.

Code made by `exec`, a program piped into stdin, a cell under `%%time`, a file edited since it was imported: the frame
runs `with Tracer():`, but there is no text to compile the body from. Its bytecode is there, so `carve` walks it from
the first instruction of the body to the call of `__exit__` (`flow`), turns every variable of the frame into a
free variable, and writes the result down as a code object of its own (`assembly`). What comes out has the
interface of a compiled body: `types.FunctionType(code, frame.f_globals, name, None, cells)`, one cell for each of
`code.co_freevars`. Lines, columns, qualified names and rewritten asserts are those of the running code, since it is
the running code.

At module level and in a class body names live in a mapping, not in variables; there the code is one for
`exec(code, globals, namespace, closure=cells)`. `code.co_flags & inspect.CO_OPTIMIZED` tells which it is.

Not done: CPython 3.10, and versions newer than the table in `instructions`. The first carve of a process takes three
tiny bodies out and runs them; where one of them goes wrong, every carve is refused with the reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from tracer_core.bytecode import Handler
from tracer_core.carve import selftest
from tracer_core.carve.assembly import Emitted, assemble
from tracer_core.carve.flow import Flow, walk
from tracer_core.carve.instructions import CannotCarve, Instructions, dialect
from tracer_core.carve.names import Names

__all__ = ["CannotCarve", "CarvedBody", "carve"]

_STOP_ITERATION = -1
"""The label of a coroutine's last handler; other labels are places of the original code."""
_CO_HAS_DOCSTRING, _CO_METHOD = 0x4000000, 0x8000000  # 3.13, 3.14; `inspect` has them from then on
_NOT_A_BODY = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR | _CO_HAS_DOCSTRING | _CO_METHOD
)  # fmt: skip
"""Flags that say how the function around the body is called and what it returns."""


class CarvedBody(NamedTuple):
    """A body taken out of the running bytecode; knows no frame, so one serves all runs of its site."""

    code: CodeType
    """Takes no argument, or (`takes_first`) one; `co_freevars` names the cells that it needs, in order."""
    reads: frozenset[str]
    """Names that the body, or a function in it, reads: of the frame, of its namespace, and globals of the body itself."""
    binds: frozenset[str]
    """Names that the body, or a function in it by `nonlocal`, binds or deletes."""
    takes_first: bool
    """Whether the code takes the first argument of the frame's function, which `super()` without arguments looks for."""
    is_async: bool
    """Whether the code makes a coroutine, since the body is that of an `async with`."""


def carve(code: CodeType, enter_offset: int) -> CarvedBody:
    """Return the body of the `with` item that the instruction of `code` at `enter_offset` (`f_lasti`) enters.

    Raises:
        CannotCarve: the body leaves by `return`, `break` or `continue`, or yields; no `with` is entered there; or this
            Python's bytecode is not known.
    """
    dialect()
    failure = selftest.failure(_code)
    if failure is not None:
        raise CannotCarve(failure)
    return _carve(code, enter_offset)


def _code(code: CodeType, enter_offset: int) -> CodeType:
    return _carve(code, enter_offset).code


def _carve(code: CodeType, enter_offset: int) -> CarvedBody:
    instructions = Instructions(code)
    body = walk(instructions, enter_offset)
    names = Names(instructions, body)
    emitted = [*_beginning(instructions, body, names), *_middle(instructions, body, names)]
    if body.is_async and instructions.dialect.wraps_stop_iteration:
        emitted = _as_coroutine(emitted)
    assembled = assemble(emitted, code.co_firstlineno)
    carved = code.replace(  # type: ignore[call-arg]  # co_exceptiontable is of 3.11, mypy looks at 3.10
        co_argcount=len(names.parameters),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_nlocals=len(names.variables),
        co_flags=code.co_flags & ~_NOT_A_BODY | (inspect.CO_COROUTINE if body.is_async else 0),
        co_code=assembled.code,
        co_varnames=names.variables,
        co_cellvars=names.cells,
        co_freevars=names.free,
        co_linetable=assembled.line_table,
        co_exceptiontable=assembled.exception_table,
    )
    return CarvedBody(carved, names.reads, names.binds, bool(names.parameters), body.is_async)


def _beginning(instructions: Instructions, body: Flow, names: Names) -> list[Emitted]:
    """Return what the function around begins with, for the names of the body."""
    kept = {"RESUME", "RETURN_GENERATOR", "POP_TOP"} if body.is_async else {"RESUME"}
    emitted = [Emitted("COPY_FREE_VARS", len(names.free))] if names.free else []
    for item in instructions:
        if item.op in kept:
            emitted.append(Emitted(item.op, item.arg, item.caches, instructions.positions([item.place])[item.place]))
        if item.op == "RESUME":
            break
    return emitted


def _middle(instructions: Instructions, body: Flow, names: Names) -> Iterator[Emitted]:
    """Give the instructions of the body, on its own names; where the block ends, the function returns None."""
    places = sorted({*body.stacks, *(() if body.end is None else (body.end,))})
    for place, position in instructions.positions(places).items():
        item = instructions.at(place)
        if place == body.end:
            yield Emitted(item.op, item.arg, position=position, label=place)
            yield Emitted("RETURN_VALUE", position=position)
        else:
            (op, arg), *more = names.renamed(item, body.stacks[place])
            caches, cover = 0 if more else item.caches, body.covers.get(place)
            yield Emitted(op, arg, caches, position, place, item.target, cover)
            yield from (Emitted(op, arg, position=position, cover=cover) for op, arg in more)


def _as_coroutine(emitted: list[Emitted]) -> list[Emitted]:
    """Return `emitted` with the handler that turns StopIteration into RuntimeError where no other one is (3.12+)."""
    resumed = next(number for number, item in enumerate(emitted) if item.op == "RESUME")
    cover = Handler(0, 0, _STOP_ITERATION, 0, True)
    return [
        *emitted[:resumed],
        *(item if item.cover else item._replace(cover=cover) for item in emitted[resumed:]),
        Emitted("CALL_INTRINSIC_1", 3, label=_STOP_ITERATION),
        Emitted("RERAISE", 1),
    ]

"""The names of invokes: each block means its own `hidden`, and what one block binds another can read.

    with model.trace() as tracer:
        for prompt in prompts:
            with tracer.invoke(prompt):
                hidden = model.layers[0].output
                model.layers[1].output = hidden * 2

The blocks take turns when the loop is over. So a name of the code around them that no block binds, as `prompt`, keeps for
each block the value that it had where the block stands. A name that every block which uses it binds before it reads it,
as `hidden`, is each block's own: otherwise it would hold what another block bound since. Any other name is one for all: a
value that goes from one block to another, a sum over all. After the run an own name has the value that the last of the
blocks gave it, as if they had run one after the other.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from traceback import walk_tb
from types import CellType, CodeType
from typing import TYPE_CHECKING

from interp_components.errors import add_note

if TYPE_CHECKING:
    from interp_components.tracing.trace import Invoke

_UNBOUND = CellType()
_OF_NAMES = ("DEREF", "CLOSURE", "FAST")
"""Parts of the names of the instructions whose argument is a variable, or a tuple of two."""

Use = tuple["Invoke", str]


def part(invokes: Sequence[Invoke]) -> Callable[[], None]:
    """Give each block the names that are its own; returns what binds them in the code around when all have run."""
    own: dict[int, dict[str, CellType]] = {id(invoke): {} for invoke in invokes}
    parted = []
    for cell, uses in _by_cell(invokes):
        is_bound = any(name in invoke.block.writes for invoke, name in uses)
        if is_bound and (len(uses) < 2 or not all(name in _bound_first(invoke.block.code) for invoke, name in uses)):
            continue
        for invoke, name in uses:
            if name in invoke.values:
                own[id(invoke)][name] = CellType(invoke.values[name])
            elif is_bound:
                own[id(invoke)][name] = CellType()
        if is_bound:
            parted.append((cell, uses))
    for invoke in invokes:
        invoke.block.hold(own[id(invoke)])
    return lambda: _give_back(parted)


def explain_unbound(error: NameError, invokes: Sequence[Invoke]) -> None:
    """Tell whoever reads a name that another block has not bound yet how to wait for it."""
    passed = {frame.f_code for frame, _ in walk_tb(error.__traceback__)}
    blocks = [invoke.block for invoke in invokes if invoke.block.code not in passed]
    binding = [block for block in blocks if error.name in block.writes]
    if not binding:
        return
    add_note(
        error,
        f"{error.name!r} is bound by the invoke at {binding[0].filename}:{binding[0].first_line}, which had not come that "
        f"far: the blocks of a run take turns as the model passes the places that they ask for. To wait, make "
        f"`barrier = tracer.barrier(2)` in front of the invokes, and call `barrier()` in both: in the one after "
        f"{error.name!r} is bound, in the other before it is read.",
    )


def _by_cell(invokes: Sequence[Invoke]) -> list[tuple[CellType, list[Use]]]:
    """The variables that the blocks use, and in each who uses it by which name."""
    found: dict[int, tuple[CellType, list[Use]]] = {}
    for invoke in invokes:
        for name, cell in invoke.block.cells.items():
            found.setdefault(id(cell), (cell, []))[1].append((invoke, name))
    return list(found.values())


def _give_back(parted: Sequence[tuple[CellType, list[Use]]]) -> None:
    for cell, uses in parted:
        for invoke, name in reversed(uses):
            own = invoke.block.cells[name]
            if own != _UNBOUND and not (name in invoke.values and own.cell_contents is invoke.values[name]):
                cell.cell_contents = own.cell_contents
                break


@lru_cache(maxsize=256)  # code to names, for the life of the process; equal code has equal names
def _bound_first(code: CodeType) -> frozenset[str]:
    """The names that the code binds before it reads them, as far as the order of its text tells."""
    first: dict[str, bool] = {}
    for name, is_bound in _uses(code):
        first.setdefault(name, is_bound)
    return frozenset(name for name, is_bound in first.items() if is_bound)


def _uses(code: CodeType) -> Iterator[tuple[str, bool]]:
    """The variables that instructions are about, in order, and whether each is bound there."""
    for instruction in dis.get_instructions(code):
        if any(part in instruction.opname for part in _OF_NAMES):
            names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            for name in names:
                yield name, instruction.opname == "STORE_DEREF"

"""Three tiny carves, tried before the first one that counts: does this interpreter's bytecode mean what `carve` thinks?

A minor version fixes its opcodes, but a build of it can still be another one (a fork, a patched interpreter). A body
that is taken out wrongly there must not run, so bodies whose results are known are tried first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import CellType, CodeType, FunctionType
from typing import Any

from tracer_core import bytecode

_TRIED: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    (
        """
def around(manager, a, b):
    for _ in a:
        with manager as (b, c):
            total = [b := b + i for i in a if (lambda: i > 0)()]
            del c
""",
        {"a": [0, 1, 2], "b": 0, "c": 1},
        {"a": [0, 1, 2], "b": 3, "total": [1, 3]},
    ),
    (
        """
def around(manager, a, b):
    with manager:
        try:
            b = a[9]
        except IndexError as error:
            b = type(error).__name__
        finally:
            total = [*a, b]
""",
        {"a": [1]},
        {"a": [1], "b": "IndexError", "total": [1, "IndexError"]},
    ),
    (
        """
def around(manager, a, b):
    with manager as b.names[0]:
        while a:
            match a.pop():
                case 0:
                    continue
                case int() as b:
                    total = f"{b=}"
""",
        {"a": [0, 5, 0]},
        {"a": [], "b": 5, "total": "b=5"},
    ),
)
"""A function, the variables when its block is entered, and those that it has after the block."""


@cache
def failure(take: Callable[[CodeType, int], CodeType]) -> str | None:
    """Return what goes wrong with the bodies that `take` takes out here, None when nothing does.

    Key: the function that is tried. Lifetime: the process. Threads: at worst two of them try at once.
    """
    version = ".".join(map(str, sys.version_info[:3]))
    for text, before, after in _TRIED:
        try:
            found = _run(take, text, before)
        except Exception as error:  # what a wrong carve raises when it is made or run can be anything
            return f"carving is off, since a trial of it fails on this Python {version}: {error!r}"
        if found != after:
            return f"carving is off, since a trial of it gives {found!r} on this Python {version}, not {after!r}"
    return None


def _run(take: Callable[[CodeType, int], CodeType], text: str, before: dict[str, Any]) -> dict[str, Any]:
    """Return the variables after the block in `text` has run, carved, on those of `before`."""
    around = next(const for const in compile(text, "<carve trial>", "exec").co_consts if isinstance(const, CodeType))
    code = take(around, next(bytecode.enters(around.co_code)).offset)
    cells = {name: CellType() for name in code.co_freevars}
    for name, value in before.items():
        cells[name].cell_contents = value.copy() if isinstance(value, list) else value
    FunctionType(code, {}, None, None, tuple(cells.values()))()
    return {name: cell.cell_contents for name, cell in cells.items() if _is_bound(cell)}


def _is_bound(cell: CellType) -> bool:
    """Tell whether a cell holds anything."""
    try:
        cell.cell_contents  # noqa: B018 - reading an empty cell is what raises
    except ValueError:
        return False
    return True

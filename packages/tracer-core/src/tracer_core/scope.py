"""How a block reads the caller's names, and how its results come back.

At the end of `with Tracer():` the variables that the block uses are copied from the caller's frame into cells of the
block's own; the block runs on these, and what is handed back is written into the frame: the locals and cells of a function,
the globals of a module, the namespace of a class. A block inside a traced block shares the cells of that block, for the
names both use, and so binds the names of the block around it even when that has ended.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from types import CellType, FrameType, FunctionType
from typing import Any

from tracer_core import frames, saving
from tracer_core.site import SAVE, UNPACKED, Kind

CONSTANTS = {SAVE: CellType(saving.save_method), UNPACKED: CellType(saving.unpacked)}
_UNBOUND: Any = object()


class ModuleNames(dict[str, Any]):
    """The globals of a block whose code was taken out of a module's bytecode, where each name is a global.

    What the block binds is its own until it is handed back, also for the functions that it defines; for all other names
    the module's globals show through, as they are when they are read.
    """

    def __init__(self, module: dict[str, Any], own: Iterable[str]) -> None:
        """Begin with what `own`, the names that the block binds, are bound to in `module`."""
        self._module = module
        values = {name: self._value(name) for name in (*own, "__builtins__", "__name__")}
        super().__init__({name: value for name, value in values.items() if value is not _UNBOUND})

    def __missing__(self, name: str) -> Any:
        """Return what the module binds `name` to."""
        return self._module[name]

    def _value(self, name: str) -> Any:
        try:
            return self._module[name]
        except KeyError:
            return _UNBOUND


def kind(frame: FrameType) -> Kind:
    """Return where `frame` keeps its names."""
    if frame.f_code.co_flags & frames.CO_OPTIMIZED:
        return Kind.FUNCTION
    return Kind.MODULE if frame.f_locals is frame.f_globals else Kind.NAMESPACE


def filled(names: Iterable[str], values: Mapping[str, Any]) -> dict[str, CellType]:
    """Return a new cell for each of `names`, which `values` may bind."""
    found: dict[str, CellType] = {}
    for name in names:
        if name in values:
            found[name] = CellType(values[name])
        else:
            found[name] = CONSTANTS[name] if name in CONSTANTS else CellType()
    return found


def cells(names: tuple[str, ...], frame: FrameType, shared: Mapping[str, CellType]) -> dict[str, CellType]:
    """Return a cell for each of `names`: the shared one, or a new one with the value the name has in `frame`."""
    values = frame.f_locals
    found: dict[str, CellType] = {}
    for name in names:
        if name in shared:
            found[name] = shared[name]
        elif name in values:
            found[name] = CellType(values[name])
        else:
            found[name] = CONSTANTS[name] if name in CONSTANTS else _enclosing(name, frame)
    return found


def _enclosing(name: str, frame: FrameType) -> CellType:
    """Return a cell with the value of a free variable of a class body, which its frame does not show, or an empty one."""
    inner = frame.f_code
    around = frame.f_back
    if not inner.co_flags & frames.CO_OPTIMIZED and name in inner.co_freevars:
        while around is not None and inner not in around.f_code.co_consts:
            around = around.f_back
        if around is not None:
            values = around.f_locals
            return CellType(values[name]) if name in values else _enclosing(name, around)
    return CellType()


def push_result(
    frame: FrameType, names: dict[str, Any], saved_names: frozenset[str] = frozenset(), writes: Iterable[str] = ()
) -> None:
    """Bind in `frame` what a block bound: all of `names` in a nested trace, only what was saved in the outermost.

    `saved_names` are the names that the block binds by a save: see `saving.Scope.returns`. `writes` are all names that it
    binds: those that are not among `names` it has unbound, and a nested trace does so in `frame`.
    """
    running = saving.RUNNING.get()
    if running is not None and running.depth == 1:
        names = {name: value for name, value in names.items() if running.returns(name, value, saved_names)}
    else:
        unbound = [name for name in writes if name not in names]
        if unbound:
            frames.unbind_locals(frame, unbound)
    if names:
        frames.write_locals(frame, names)


def spellings(frame: FrameType) -> tuple[str, ...]:
    """Return what `save` is called in the code of `frame`, where that was imported or bound under another name."""
    code, local = frame.f_code, frame.f_locals
    if local is not frame.f_globals:
        local = dict(local)  # 3.13 looks through all variables for each name
    names = (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)
    values = ((name, local.get(name, frame.f_globals.get(name))) for name in dict.fromkeys(names))
    return tuple(name for name, value in values if isinstance(value, FunctionType) and value.__name__ == "save")


def run_in(function: Callable[..., Any], namespace: Any) -> None:
    """Run `function`, the body of a class, with `namespace` as its locals."""

    class Runner(type):
        @classmethod
        def __prepare__(cls, name: str, bases: tuple[type, ...], /, **options: Any) -> Any:
            return namespace

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: Any) -> Any:
            return None

    builtins.__build_class__(function, function.__name__, metaclass=Runner)


class ClassCell:
    """Waits in the namespace of a class for the class, to tell the methods that a block made: `super()` asks a cell for it.

    `type` calls `__set_name__` of everything in the namespace when it has made the class.
    """

    NAME = ".tracer_core"

    def __init__(self, cell: CellType) -> None:
        """Take the cell to be filled."""
        self._cell = cell

    def __set_name__(self, owner: type, name: str) -> None:
        """Fill the cell, and leave."""
        self._cell.cell_contents = owner
        delattr(owner, name)

    def __get__(self, instance: object, owner: type | None = None) -> CellType:
        """Be a descriptor, which an enumeration does not take for a member."""
        return self._cell

"""Which variable of the frame becomes which variable of the carved body.

Variables of the frame become free variables, since they belong to the frame as much as to the body. Only the variable of
an inlined comprehension (3.12+) stays a local one, for as long as the comprehension runs: it has nothing to do with a
variable of the same name around it. The stack tells them apart, see `flow.Stack`.
"""

from __future__ import annotations

import inspect
from types import CodeType

from tracer_core.carve.flow import Flow, Stack
from tracer_core.carve.instructions import Instruction, Instructions
from tracer_core.site import SAVE
from tracer_core.versions import V312

_TO_CELL = {
    "LOAD_FAST": "LOAD_DEREF",
    "LOAD_FAST_BORROW": "LOAD_DEREF",
    "LOAD_FAST_CHECK": "LOAD_DEREF",
    "STORE_FAST": "STORE_DEREF",
    "DELETE_FAST": "DELETE_DEREF",
}
"""An instruction on a variable of the frame, and the one on a cell that means the same."""
_ON_CELLS = frozenset({
    "LOAD_CLOSURE", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF",
})  # fmt: skip
_ON_SLOTS = _ON_CELLS | {*_TO_CELL, "LOAD_FAST_AND_CLEAR", "MAKE_CELL"}
_ON_NAMES = frozenset({
    "LOAD_NAME", "STORE_NAME", "DELETE_NAME", "LOAD_FROM_DICT_OR_GLOBALS",
    "LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL",
})  # fmt: skip


class Names:
    """The variables of a carved body, and what it does with them."""

    def __init__(self, instructions: Instructions, body: Flow) -> None:
        """Look at every instruction of `body` that has to do with a name."""
        self._code = code = instructions.code
        self._slots = slots(code)
        self._free: set[int] = set()
        self._own: dict[int, bool] = {}
        self._reads: set[str] = set()
        self._binds: set[str] = set()
        self._saves: set[int] = set()
        for place, stack in body.stacks.items():
            self._note(instructions.at(place), stack)
            if _calls_save(instructions, place):
                self._saves.add(place)
        is_method = code.co_argcount and "__class__" in code.co_freevars
        first = code.co_varnames[:1] if is_method and "super" in self._reads else ()
        if first:
            self._free.add(self._slots.index("__class__"))
        self.reads, self.binds = frozenset(self._reads), frozenset(self._binds)
        free = [self._slots[slot] for slot in sorted(self._free)]
        self.free = (*free, SAVE) if self._saves else tuple(free)
        self.parameters = tuple(f".{name}" for name in first)
        own = tuple(self._own_name(slot) for slot in self._own)
        self.variables = (*self.parameters, *own)
        self.cells = tuple(name for name, is_cell in zip(own, self._own.values(), strict=True) if is_cell)
        self._own_index = {slot: len(self.parameters) + rank for rank, slot in enumerate(self._own)}
        self._free_index = {slot: len(self.variables) + rank for rank, slot in enumerate(sorted(self._free))}

    def renamed(self, instruction: Instruction, stack: Stack) -> tuple[tuple[str, int], ...]:
        """Return operations and arguments that do to the body's variables what `instruction` does to the frame's.

        `value.save()` calls what the block knows as SAVE, so that a value of any type can be saved: instead of method and
        value, SAVE and value lie on the stack.
        """
        if instruction.place in self._saves:
            return ("LOAD_DEREF", len(self.variables) + self.free.index(SAVE)), ("SWAP", 2)
        return (self._on_own_slot(instruction, stack),)

    def _on_own_slot(self, instruction: Instruction, stack: Stack) -> tuple[str, int]:
        op, arg = instruction.op, instruction.arg
        if op not in _ON_SLOTS:
            return op, arg
        if _is_own(instruction, stack):
            return op, self._own_index[arg]
        if op in _TO_CELL and not self._holds_cell(arg):
            op = _TO_CELL[op]
        return op, self._free_index[arg]

    def _note(self, instruction: Instruction, stack: Stack) -> None:
        op, arg = instruction.op, instruction.arg
        if op == "LOAD_CONST":
            const = self._code.co_consts[arg]
            self._binds |= _rebound(const) if isinstance(const, CodeType) else set()
        elif op in _ON_NAMES:
            self._use(op, self._code.co_names[arg >> 1 if op == "LOAD_GLOBAL" else arg])
        elif op in _ON_SLOTS and _is_own(instruction, stack):
            self._own[arg] = self._own.get(arg, False) or op == "MAKE_CELL"
        elif op in _ON_SLOTS:
            self._free.add(arg)
            self._use(op, self._slots[arg])

    def _use(self, op: str, name: str) -> None:
        (self._reads if op.startswith("LOAD") else self._binds).add(name)

    def _holds_cell(self, slot: int) -> bool:
        """Tell whether the frame keeps the variable in a cell; LOAD_FAST of one loads the cell, for a closure (3.13+)."""
        name = self._slots[slot]
        return slot >= len(self._slots) - len(self._code.co_freevars) or name in self._code.co_cellvars

    def _own_name(self, slot: int) -> str:
        """Return what a comprehension's variable is called: no name of the frame, which `locals()` would mix up."""
        name = self._slots[slot]
        is_alone = self._code.co_flags & inspect.CO_OPTIMIZED and name not in self.free
        return name if is_alone else f".{name}"


def slots(code: CodeType) -> tuple[str, ...]:
    """Return the name of every slot that an instruction on variables or cells can mean (3.11+)."""
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return (*code.co_varnames, *cells, *code.co_freevars)


def _is_own(instruction: Instruction, stack: Stack) -> bool:
    """Tell whether the variable of `instruction` belongs to a comprehension that is running there."""
    return instruction.arg in stack or instruction.op == "LOAD_FAST_AND_CLEAR"


def _calls_save(instructions: Instructions, place: int) -> bool:
    """Tell whether `.save()` or `.save(copy=...)` of a value is looked up at `place`, to be called right away."""
    instruction = instructions.at(place)
    op, arg = instruction.op, instruction.arg
    if op == "LOAD_ATTR" and V312 and arg & 1:
        arg >>= 1
    elif op != "LOAD_METHOD":
        return False
    if instructions.code.co_names[arg] != "save":
        return False
    first = instructions.at(instruction.following)
    if first.op in {"PRECALL", "CALL"}:
        return first.arg == 0
    second = instructions.at(first.following)
    return second.op in {"KW_NAMES", "LOAD_CONST"} and instructions.code.co_consts[second.arg] == ("copy",)


def _rebound(code: CodeType) -> set[str]:
    """Return the free names of a nested code object that it, or one nested in it, binds by `nonlocal`."""
    names = slots(code)
    found = {names[item.arg] for item in Instructions(code) if item.op in {"STORE_DEREF", "DELETE_DEREF"}}
    for const in code.co_consts:
        if isinstance(const, CodeType):
            found |= _rebound(const)
    return found & set(code.co_freevars)

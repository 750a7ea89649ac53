"""A function with its labels and its guarded code, from `model.transformer.h[0].attn.source`."""

from __future__ import annotations

from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

from interp_components.sources.definition import compile_definition, read_text
from interp_components.sources.listing import Listed, list_operations
from interp_components.sources.percode import PerCode
from interp_components.sources.rewrite import SLOTS, rewrite


@dataclass(frozen=True, eq=False)
class Labelled:
    """What one function's text gives; holds nothing of the function itself, which may be made anew at every call."""

    qualname: str
    filename: str
    first_line: int
    lines: tuple[str, ...]
    operations: tuple[Listed, ...]
    places: dict[str, int]
    """The place of each label among the operations, which is also its slot."""
    code: CodeType
    """The guarded code."""
    free: tuple[int | None, ...]
    """For each free name of the guarded code, its place among those of the function; None for the slots."""

    def with_slots(self, function: FunctionType, slots: list[Any]) -> FunctionType:
        """Return the function with guards that look at `slots`: same globals, same cells, same defaults."""
        cells = function.__closure__ or ()
        closure = tuple([CellType(slots) if place is None else cells[place] for place in self.free])
        guarded = FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__, closure)
        guarded.__kwdefaults__ = function.__kwdefaults__
        guarded.__qualname__ = function.__qualname__
        guarded.__dict__["__wrapped__"] = function  # what asks for the signature finds the annotations there
        return guarded


def _label(function: FunctionType) -> Labelled:
    text = read_text(function)
    operations, places = list_operations(text.tree)
    running = function.__code__
    code = compile_definition(rewrite(text.tree, places), function, text.class_name, SLOTS)
    return Labelled(
        qualname=function.__qualname__,
        filename=running.co_filename,
        first_line=text.first_line,
        lines=text.lines,
        operations=operations,
        places={operation.name: place for place, operation in enumerate(operations)},
        code=code,
        free=tuple(None if name == SLOTS else running.co_freevars.index(name) for name in code.co_freevars),
    )


label = PerCode(_label)
"""A function -> its labels and its guarded code. Raises `SourceNotAvailable` (see `read_text`)."""

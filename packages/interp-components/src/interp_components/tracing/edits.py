"""`with model.edit() as (tracer, edited):` - a block that stays: it runs in front of the block of every later trace."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from interp_components.tracing.steps import HasSteps
from tracer_core import Backend, Block, SourceNotAvailable, Tracer

if TYPE_CHECKING:
    from interp_components.tracing.traceable import Traceable


class Edit(HasSteps, Tracer):
    """Keeps its block with a model instead of running it.

    Args:
        model: the model whose traces are to run the block.
        is_inplace: whether `with` binds the tracer alone, since the model is the one that is edited, or the pair of
            tracer and edited copy.
        backend: what "run the block" means.
    """

    def __init__(self, model: Traceable, is_inplace: bool, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self._model = model
        self._is_inplace = is_inplace

    def __enter__(self) -> Any:
        """Capture the block."""
        super().__enter__()
        return self if self._is_inplace else (self, self._model)

    def execute(self, code: CodeType | None = None) -> None:
        """Keep the block."""
        if code is not None:
            self.block.replace_code(code)
        self._model._edits = (*self._model._edits, KeptBlock(self.block, _run_of(self.block, is_own=code is None)))


class KeptBlock(NamedTuple):
    """A block of an edit, and what runs it."""

    block: Block
    run: Callable[[], object]


def _run_of(block: Block, is_own: bool) -> Callable[[], object]:
    """What runs the block, each time on the values that its names have now; a block without its own text shares its names."""
    try:
        values = block.values() if is_own else None
    except SourceNotAvailable:
        values = None
    return block.run if values is None else lambda: block.apart(values).run()

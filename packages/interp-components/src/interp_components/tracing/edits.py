"""`with model.edit() as (tracer, edited):` - a block that stays: it runs in front of the block of every later trace."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core import Backend, Tracer

if TYPE_CHECKING:
    from interp_components.tracing.traceable import Traceable


class Edit(Tracer):
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
        self._model._edits = (*self._model._edits, self.block)

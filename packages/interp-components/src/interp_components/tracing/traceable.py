"""`model.trace(...)` and its relatives: an envoy that can be run.

What the inputs of a trace may be is the model's own matter: `_prepare` turns what stands in one `trace(...)` or
`invoke(...)` into a call, `_batch` several calls into one. Here they are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, overload

from interp_components.envoys import Envoy
from interp_components.tracing.calls import Call, as_call, join
from interp_components.tracing.edits import Edit, KeptBlock
from interp_components.tracing.scans import Scan
from interp_components.tracing.sessions import Session
from interp_components.tracing.trace import Trace
from tracer_core import Backend


class Traceable(Envoy):
    """An envoy that can be run with blocks in it; wraps any module."""

    _edits: tuple[KeptBlock, ...] = ()

    @classmethod
    def _default_class(cls) -> type[Envoy]:
        return Traceable

    @overload
    def trace(self, *inputs: Any, trace: Literal[False], **kwargs: Any) -> Any: ...
    @overload
    def trace(
        self,
        *inputs: Any,
        trace: Literal[True] = True,
        fn: str | Callable[..., Any] | None = None,
        strict: bool = False,
        backend: Backend | None = None,
        **kwargs: Any,
    ) -> Trace: ...
    def trace(
        self,
        *inputs: Any,
        trace: bool = True,
        fn: str | Callable[..., Any] | None = None,
        strict: bool = False,
        backend: Backend | None = None,
        **kwargs: Any,
    ) -> Any:
        """Run the model on `inputs` with the block of the `with` statement.

        Args:
            inputs: what the model is called with; none when the block has `tracer.invoke(...)` blocks.
            trace: False for no block: the model runs now, with the edits that it keeps, and what it returns is returned.
            fn: another function to run than the module: the name of a method, or a callable.
            strict: raise when an edit has no effect.
            backend: what "run the block" means, see `tracer_core`.
            kwargs: keyword arguments of the model.
        """
        if self._parent is not None:
            self._ready()
        function = self._module if fn is None else getattr(self._module, fn) if isinstance(fn, str) else fn
        made = Trace(self, function, inputs, kwargs, is_single=fn is None, strict=strict, backend=backend)
        return made if trace else made.without_block()

    def scan(self, *inputs: Any, backend: Backend | None = None, **kwargs: Any) -> Trace:
        """Run the block with a model that computes shapes only, also one whose weights are not loaded."""
        return Trace(self, Scan(self._module), inputs, kwargs, is_single=True, backend=backend)

    def edit(self, inplace: bool = False, backend: Backend | None = None) -> Edit:
        """Keep the block of the `with` statement: it runs in every later trace of the edited model.

        `with model.edit() as (tracer, edited):` edits a copy that shares the weights, `with model.edit(inplace=True) as
        tracer:` the model itself.
        """
        return Edit(self if inplace else self._shallow_copy(), inplace, backend)

    def clear_edits(self) -> None:
        """Forget the blocks that were kept."""
        self._edits = ()

    def session(self, backend: Backend | None = None) -> Session:
        """A block of several traces with one save boundary around them."""
        return Session(backend)

    def _ready(self) -> None:
        """Have in place what a run needs: for a part of a model, the root knows."""
        root = self.root
        if root is not self and isinstance(root, Traceable):
            root._ready()

    def _refuse_unknown(self, kwargs: Iterable[str]) -> None:
        """Refuse keyword arguments that no forward takes; a module takes what it takes, and Python refuses the rest."""

    def _prepare(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """What stands in one `trace(...)` or `invoke(...)`, as a call of the model."""
        return Call(inputs, kwargs) if inputs else as_call(inputs, kwargs)

    def _batch(self, calls: Sequence[Call]) -> Call:
        """Several calls as one, rows in the order of the calls."""
        return join(calls)

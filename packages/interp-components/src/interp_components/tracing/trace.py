"""`with model.trace(x) as tracer:`: the block becomes a worker, and the model runs with it.

With an input the whole block is one worker. Without one, the block runs first and its `with tracer.invoke(...)` blocks
are collected; each is a worker on its own rows of one batch, an empty `invoke()` a worker on the whole batch. Edits that
the model keeps are workers in front of both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any

import torch

from interp_components.envoys import Envoy
from interp_components.errors import (
    BatchError,
    NestedRunError,
    NoEffectError,
    NoEffectWarning,
    OutsideTraceError,
    StopRun,
    add_note,
)
from interp_components.interleaving import RESULT, Batch, Receipt, Request, Rows, Run, Worker, current
from interp_components.tracing import backward, names
from interp_components.tracing.barriers import Barrier
from interp_components.tracing.caches import Cache, Recorder, conversion
from interp_components.tracing.calls import NO_CALL, Call
from interp_components.tracing.steps import HasSteps
from tracer_core import Backend, Block, Tracer, mark

if TYPE_CHECKING:
    from interp_components.tracing.traceable import Traceable


class Trace(HasSteps, Tracer):
    """One run of a model with the blocks written in it.

    Args:
        model: the envoy of the module that runs.
        function: what runs the module: takes the arguments of the call.
        args, kwargs: what stands in `trace(...)`.
        is_single: the function is one forward of the module.
        strict: an edit without effect is an error.
        backend: what "run the block" means.

    Attributes:
        setting: what the model is set to for the run, None for what it is.
    """

    def __init__(
        self,
        model: Traceable,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        is_single: bool,
        strict: bool = False,
        backend: Backend | None = None,
    ) -> None:
        super().__init__(backend)
        self._model: Traceable | None = model
        self._function = function
        self._call = model._prepare(args, kwargs)
        self._is_single = is_single
        self._is_strict = strict
        self._invokes: list[Invoke] = []
        self._recorders: list[Recorder] = []
        self._run: Run | None = None
        self._requests: list[Request] = []
        self._steps = 0
        self.setting: AbstractContextManager[None] | None = None

    # How it runs

    def execute(self, code: CodeType | None = None) -> None:
        """Run the block, or the invokes written in it, together with the model."""
        if self._model is None:
            _gone()
        if code is not None:
            self.block.replace_code(code)
        try:
            if self._call.has_input:
                self._interleave(self._call, [self.block], [Worker(self.block.run)], None)
            else:
                self._collect_invokes()
                self._run_invokes()
        finally:
            self.write_back()
            self._forget()

    def without_block(self) -> Any:
        """Run the model with the edits that it keeps and nothing else; returns what the traced call returns."""
        if not self._call.has_input:
            raise self._no_input()
        try:
            return self._interleave(self._call, [], [], None)
        finally:
            self._forget()

    def _collect_invokes(self) -> None:
        """Run the block, without a model, for the invokes in it."""
        try:
            self.block.run()
        except OutsideTraceError as error:
            add_note(
                error,
                "The trace has no input of its own, so its block runs before the model, and only the "
                "`with tracer.invoke(...):` blocks in it run with the model. Give the input to the trace, or move the "
                "line into an invoke.",
            )
            raise

    def _run_invokes(self) -> None:
        invokes, model = self._invokes, self._model
        assert model is not None
        calls = [invoke.call for invoke in invokes if invoke.call.has_input]
        if not calls:
            raise self._no_input()
        call = calls[0] if len(calls) == 1 else model._batch(calls)
        options = [self._call.kwargs, *(invoke.call.kwargs for invoke in invokes if not invoke.call.has_input)]
        more = {name: value for each in options for name, value in each.items()}
        blocks = [invoke.block for invoke in invokes]
        give_back = names.part(invokes) if len(blocks) > 1 else None
        try:
            self._interleave(Call(call.args, {**call.kwargs, **more}), blocks, *_workers(invokes, calls))
        except NameError as error:
            names.explain_unbound(error, invokes)
            raise
        finally:
            if give_back is not None:
                give_back()

    def _no_input(self) -> BatchError:
        assert self._model is not None
        return BatchError(
            f"{self._model.path}.trace() has no input to run on: give one to `trace(...)`, or write "
            f"`with tracer.invoke(...):` blocks in it."
        )

    def _interleave(self, call: Call, blocks: list[Block], workers: list[Worker], batch: Batch | None) -> Any:
        model, function = self._model, self._function
        assert model is not None
        if model._edits:
            blocks = [*(edit.block for edit in model._edits), *blocks]
            workers = [*(Worker(edit.run) for edit in model._edits), *workers]
        run = self._run = Run(model._input, workers, batch, self._is_single)
        for recorder in self._recorders:
            recorder.install(run, None)
        try:
            goes_back = backward.is_named(blocks)
            if self.setting is not None or goes_back:
                with self._around(run, goes_back):
                    result = run.execute(function, *call.args, **call.kwargs)
            else:
                result = run.execute(function, *call.args, **call.kwargs)
        finally:
            self._steps = run.forwards
        if run.has_edits:
            self._check_effects(Receipt(run.requests).without_effect)
        return result

    @contextmanager
    def _around(self, run: Run, goes_back: bool) -> Iterator[None]:
        """Have in place what this run needs and others do not; under the lock of the model, where it is set to something."""
        with ExitStack() as stack:
            if self.setting is not None:
                stack.enter_context(run.root.lock())
                stack.enter_context(self.setting)
            if goes_back:
                stack.enter_context(backward.understood())
            yield

    def _check_effects(self, lost: list[Request]) -> None:
        if not lost:
            return
        lines = "; ".join(
            f"the {entry.kind.value} of {entry.location} at {entry.filename}:{entry.line}" for entry in lost
        )
        text = f"{lines} had no effect: the model did not go on with it. Print `tracer.receipt` to see the whole run."
        if self._is_strict:
            raise NoEffectError(text)
        if not all(entry.is_served for entry in lost):
            warnings.warn(text, NoEffectWarning, stacklevel=2)

    def _forget(self) -> None:
        """Let go of the model, the inputs and the block's values: the tracer may be kept for its receipt."""
        if "block" in self.__dict__:
            self.block.release()
        if self._run is not None:
            self._requests, self._run = self._run.requests, None
        self._model = self.setting = None
        self._function = _gone
        self._call, self._invokes, self._recorders = NO_CALL, [], []

    # What a block asks of it

    def invoke(self, *args: Any, **kwargs: Any) -> Invoke:
        """One more input of the batch; its block sees its own rows. Without an input it sees the whole batch."""
        if self._run is not None or self._model is None or self._call.has_input:
            raise NestedRunError(
                "Cannot invoke while the model is already running. Write `with model.trace() as tracer:` without an "
                "input, and every input in a `with tracer.invoke(...):` of its own."
            )
        call = self._model._prepare(args, kwargs)
        if kwargs and self._is_single:
            self._model._refuse_unknown(kwargs)
        return Invoke(self, call)

    def stop(self) -> None:
        """Leave the model here: what was read so far stays, nothing after this place runs."""
        current("tracer.stop()").flush()
        raise StopRun

    def barrier(self, count: int) -> Barrier:
        """A point that `count` blocks wait at for one another: call it in each of them."""
        return Barrier(count)

    def cache(
        self,
        modules: Iterable[Envoy | str] | None = None,
        device: torch.device | str | None = "cpu",
        dtype: torch.dtype | None = None,
        detach: bool = True,
        include_output: bool = True,
        include_inputs: bool = False,
        non_blocking: bool = False,
    ) -> Cache:
        """Keep what modules return, without asking for each; the cache is saved.

        Args:
            modules: envoys or paths; every module by default.
            device: where the kept tensors are; None for where they were.
            dtype: what floating point tensors are cast to; None for as they were.
            detach: keep them without their graph.
            include_output: keep what a module returns.
            include_inputs: keep the pair of arguments it is called with.
            non_blocking: do not wait for the copy to another device.

        Raises:
            CacheError: the model has started.
        """
        assert self._model is not None
        convert = conversion(device, dtype, detach, non_blocking)
        recorder = Recorder(self._model.root, modules, convert, include_output, include_inputs)
        if self._run is None:
            self._recorders.append(recorder)
        else:
            recorder.install(self._run, current("tracer.cache()").rows)
        return mark(recorder.cache)

    @property
    def result(self) -> Any:
        """What the traced call returns: for `generate` the ids. A block that reads it waits for the end."""
        worker = current("tracer.result")
        with worker.pinned(None):
            return worker.read(RESULT)

    @property
    def steps(self) -> int:
        """How many forwards are completed; after the run, how many there were."""
        return self._steps if self._run is None else self._run.forwards

    @property
    def receipt(self) -> Receipt:
        """Each read, write and skip so far, and whether the model went on with it."""
        return Receipt(self._requests if self._run is None else self._run.requests)


class Invoke(Tracer):
    """One input of a batch and the block that is written for it; collected by its trace."""

    def __init__(self, trace: Trace, call: Call) -> None:
        super().__init__()
        self._trace: Trace | None = trace
        self.call = call
        self.values: dict[str, Any] = {}

    def execute(self, code: CodeType | None = None) -> None:
        """Hand the block to the trace, which runs it when all are there."""
        trace, self._trace = self._trace, None
        assert trace is not None
        self.values = {**self.block.outer_values(), **self.block.bound()}
        trace._invokes.append(self)


def _workers(invokes: Sequence[Invoke], calls: Sequence[Call]) -> tuple[list[Worker], Batch | None]:
    """A worker for each invoke; with rows of its own when there is more than one input."""
    if len(calls) == 1:
        return [Worker(invoke.block.run) for invoke in invokes], None
    batch = Batch(sum(call.rows for call in calls))
    workers, start = [], 0
    for invoke in invokes:
        size = invoke.call.rows
        workers.append(Worker(invoke.block.run, Rows(start, size, batch) if size else None))
        start += size
    return workers, batch


def _gone(*args: Any, **kwargs: Any) -> Any:
    raise NestedRunError("this trace has run; write another `with model.trace(...)` to run the model again.")

"""`with loss.backward():` in a trace: gradients of what was read are read and assigned in its block.

    with model.trace(x):
        hidden = model.layers[0].output
        with model.output.sum().backward():
            gradient = hidden.grad.save()

torch's `Tensor.backward` understands `with` during a run whose blocks name `backward`, and `Tensor.grad` is served
during such a pass. Both are torch's own at any other time, and for whoever is no block of a trace.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial, wraps
from types import CodeType
from typing import Any

from torch import Tensor

from interp_components.errors import GradientError
from interp_components.interleaving import Worker
from interp_components.interleaving.seats import Seat, getcurrent
from interp_components.tracing.gradients import Pass
from tracer_core import Block, Tracer, WithBlockNotFoundError

_torch_backward = Tensor.backward
_torch_grad: Any = Tensor.grad  # Any: a slot of the C type, and a tensor to the type checker


class Backward(Tracer):
    """Runs its block along with a backward pass.

    Args:
        call: the pass.
        worker: the block that the `with` statement is written in.
    """

    def __init__(self, call: Callable[[], object], worker: Worker) -> None:
        super().__init__()
        self._call: Callable[[], object] | None = call
        self._worker: Worker | None = worker

    def execute(self, code: CodeType | None = None) -> None:
        """Run the block and the pass."""
        if code is not None:
            self.block.replace_code(code)
        call, worker = self._call, self._worker
        self._call = self._worker = None
        if call is None or worker is None:
            raise GradientError("this backward pass is done; write another `with loss.backward():`.")
        try:
            with _GRAD.installed():
                Pass(self.block.run, worker).follow(call)
        finally:
            self.write_back()


def _running() -> Worker | None:
    """The worker whose block, or whose block's backward pass, is running here."""
    seat = getcurrent()
    return seat.worker if type(seat) in {Seat, Pass} else None


@wraps(_torch_backward)
def _backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,  # Any: as torch takes it, a tensor, a sequence of them or edges
) -> Backward | None:
    """torch's own backward pass, and in a `with` line of a block one that the block of it follows."""
    worker = _running()
    if worker is not None and retain_graph is None and len(worker.run.workers) > 1:
        retain_graph = True  # the blocks share one forward, so that the pass of another may need it still
    call = partial(_torch_backward, self, gradient, retain_graph, create_graph, inputs)
    if worker is None:
        call()
        return None
    tracer = Backward(call, worker)
    is_followed = True
    try:
        tracer.capture(sys._getframe(1))
    except WithBlockNotFoundError:
        is_followed = False
    if not is_followed:  # not called where the error is handled, which an error of the call would name as its context
        call()
        return None
    _check(self)
    return tracer


def _check(loss: Tensor) -> None:
    if not loss.requires_grad:
        raise GradientError(
            "`with loss.backward():` of a loss that does not require a gradient: it was computed under "
            "`torch.no_grad()`, as all of `generate` is, or from nothing that requires one. Run the trace with gradients."
        )


def _get(tensor: Tensor) -> Any:
    seat = getcurrent()
    return seat.read(tensor) if type(seat) is Pass else _torch_grad.__get__(tensor)


def _set(tensor: Tensor, value: Any) -> None:
    seat = getcurrent()
    if type(seat) is Pass:
        seat.replace(tensor, value)
    else:
        _torch_grad.__set__(tensor, value)


def _delete(tensor: Tensor) -> None:
    _torch_grad.__delete__(tensor)


class _Patch:
    """One attribute of `torch.Tensor`, which is ours while anybody in any thread needs it."""

    def __init__(self, name: str, ours: object) -> None:
        self._name = name
        self._ours = ours
        self._lock = threading.Lock()
        self._users = 0
        self._torchs: object = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Have it in place inside, and torch's own again when the last user leaves."""
        with self._lock:
            if not self._users:
                self._torchs = vars(Tensor).get(self._name)
                setattr(Tensor, self._name, self._ours)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    if self._torchs is None:
                        delattr(Tensor, self._name)
                    else:
                        setattr(Tensor, self._name, self._torchs)


# As long as the process; counted under their locks.
_BACKWARD = _Patch("backward", _backward)
_GRAD = _Patch("grad", property(_get, _set, _delete))

understood = _BACKWARD.installed


def is_named(blocks: Iterable[Block]) -> bool:
    """Whether a block names `backward`: nobody else pays for what torch has to be taught."""
    for block in blocks:  # noqa: SIM110  # a trace pays for each step of a generator
        if _names_it(block.code):
            return True
    return False


@lru_cache(maxsize=1024)  # code that is equal names the same
def _names_it(code: CodeType) -> bool:
    return "backward" in code.co_names or any(_names_it(each) for each in code.co_consts if type(each) is CodeType)

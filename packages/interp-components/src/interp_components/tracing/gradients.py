"""`h.grad` in `with loss.backward():` - the block and the backward pass take turns, as a block and the model do.

The block runs in a greenlet of its own. A gradient it asks for parks it, a hook on the node that computed the tensor
wakes it when the pass gets there, and what it assigned is what the pass goes on with. Nodes are hooked, not tensors:
torch walks the hooks of one node while they are called, so that none can be added for a second output of it by then.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from types import TracebackType
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import Node, get_gradient_edge

from interp_components.errors import GradientError
from interp_components.interleaving import Rows, Worker
from interp_components.interleaving.rows import describe
from interp_components.interleaving.seats import GreenletExit, getcurrent, greenlet, on_deep_stack

Gradients = tuple[Tensor | None, ...]


class Pass(greenlet):  # type: ignore[misc]  # greenlet ships no types
    """One backward pass and the block that follows it.

    Args:
        block: what to run along with the pass.
        worker: the block around, whose rows the tensors may be narrowed to.
    """

    def __init__(self, block: Callable[[], object], worker: Worker) -> None:
        super().__init__()
        self.worker = worker
        self.gr_context = copy_context()
        self._block = block
        self._home = getcurrent()
        self._has_grad = torch.is_grad_enabled()
        self._visiting: Node | None = None
        self._gradients: list[Tensor | None] = []
        self._refused = False
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None

    # The pass

    def follow(self, backward: Callable[[], object]) -> None:
        """Run the block and the pass.

        Raises:
            GradientError: the block asks for a gradient that the pass does not come to any more.
            BaseException: whatever the block or the pass raised.
        """
        try:
            self._turn()
            # Hooks are to be called in this thread, which is the one that the block can take turns with.
            with torch.autograd.set_multithreading_enabled(False):
                backward()
            self._refused = True
            while not self.dead:
                self._turn()
        except BaseException as error:
            if error is not self._error:
                raise
        finally:
            while not self.dead:
                self.throw(GreenletExit)
        failed, self._error = self._error, None
        if failed is not None:
            raise failed.with_traceback(self._traceback)  # without the frames of torch's engine

    def _turn(self) -> None:
        """Let the block go on until it asks for the next gradient; whether it records gradients is its own affair."""
        here = torch.is_grad_enabled()
        with torch.set_grad_enabled(self._has_grad):
            self.switch()
            self._has_grad = torch.is_grad_enabled()
        torch.set_grad_enabled(here)
        if self._error is not None:
            raise self._error

    def _arrive(self, node: Node, gradients: Gradients) -> Gradients | None:
        """Serve the block at a node; returns what the pass goes on with."""
        if getcurrent() is not self._home:
            return None
        self._visiting, self._gradients = node, list(gradients)
        try:
            self._turn()
            return tuple(self._gradients)
        finally:
            self._visiting, self._gradients = None, []

    # The block

    def run(self) -> None:
        """What greenlet calls."""
        on_deep_stack(self._run_block)

    def _run_block(self) -> None:
        """The whole life of the block; what it raises is kept for the pass."""
        try:
            self._block()
        except GreenletExit:
            return
        except BaseException as error:
            self._error, self._traceback = error, error.__traceback__

    def read(self, tensor: Tensor) -> Any:
        """The gradient of `tensor`, which the pass has come to; None where it is known to be nothing."""
        rows, output = self._reach(tensor)
        gradient = self._gradients[output]
        return gradient if rows is None or gradient is None else rows.narrow(gradient)

    def replace(self, tensor: Tensor, value: object) -> None:
        """Let the pass go on with `value` as the gradient of `tensor`."""
        if not isinstance(value, Tensor) or value.shape != tensor.shape:
            raise GradientError(
                f"the gradient of {describe(tensor)} has its shape, and {describe(value)} was assigned to `.grad`."
            )
        rows, output = self._reach(tensor)
        whole = self._gradients[output]
        self._gradients[output] = value if rows is None or whole is None else rows.widen(whole, value, "the gradient")

    def _reach(self, tensor: Tensor) -> tuple[Rows | None, int]:
        """Be where the pass has the gradient of `tensor`, parked until then.

        The model goes on with the tensor of the whole batch, and not with the rows of it that a block is served.
        """
        rows = self.worker.rows
        whole = None if rows is None else rows.whole_of(tensor)
        if whole is None:
            rows, whole = None, tensor
        if not whole.requires_grad:
            raise GradientError(
                f"`.grad` of {describe(tensor)}, which does not require a gradient: it was computed under "
                f"`torch.no_grad()`, or from nothing that requires one. Call `requires_grad_()` on it before the model "
                f"goes on, or run the trace with gradients."
            )
        node, output = get_gradient_edge(whole)[:2]
        if self._visiting is not node:
            hook = node.register_prehook(lambda gradients: self._arrive(node, gradients))
            try:
                self._home.switch()
            finally:
                hook.remove()
            if self._refused:
                raise GradientError(_missed(tensor))
        return rows, output


def _missed(tensor: Tensor) -> str:
    return (
        f"`.grad` of {describe(tensor)} was asked for and the backward pass is done without coming to it any more. "
        f"Gradients come in the opposite order of the forward: ask for those of later layers first. A tensor that the "
        f"loss does not depend on has none, and neither has one that was made from what the model goes on with."
    )

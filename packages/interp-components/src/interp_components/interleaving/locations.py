"""Places that a forward passes: `model.transformer.h.0.attn.output`.

A location exists as long as the envoy or operation that owns it and holds nothing of any run. In a run it becomes a
`Place` (see `places`) when the first block asks for it: `attach` then makes the running model report there, and enters
what it installed into the run, which takes everything away again on every path.

Two locations exist per module, and the run's gate in front of its forward reports both: the call behind all pre-hooks,
where the module can still be skipped, and what it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.modules import module as torch_module

from interp_components.interleaving.gates import Gate
from interp_components.interleaving.locks import lock_of
from interp_components.interleaving.seats import getcurrent

if TYPE_CHECKING:
    from interp_components.interleaving.runs import Run


class Location:
    """A place the forward passes; compared by identity.

    Args:
        path: how the place is called in messages and receipts, end included.
    """

    __slots__ = ("__weakref__", "path")

    def __init__(self, path: str) -> None:
        self.path = path

    def attach(self, run: Run) -> None:
        """Make the running model report here, by `run.places[self].report(value)`.

        Called once per run, when the place is first asked for, with the place already in `run.places`. The model may
        be running. What is installed is entered into the run (`ModuleOutput.gate`, `run.on_exit`).
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how the model reports at {self.path}")

    def __repr__(self) -> str:
        return f"<location {self.path}>"


class ModuleOutput(Location):
    """What a module returns.

    Args:
        path: path of the module, without the end.
        module: the module.
        parents: outputs of the modules that call this one, more than one when it is shared.

    Attributes:
        preparations: called when the module is gated, for what has to be in place before it starts.
    """

    __slots__ = ("module", "parents", "preparations")

    def __init__(self, path: str, module: nn.Module, parents: tuple[ModuleOutput, ...] = ()) -> None:
        super().__init__(f"{path}.output")
        self.module = module
        self.parents = parents
        self.preparations: tuple[Callable[[Run], None], ...] = ()

    def gate(self, run: Run) -> Gate:
        """The module's gate in this run, put up now, with those of the modules around it, if it is not there.

        A call that has begun ignores a gate that is put up in front of it. The block may go on to ask for the output of
        what surrounds the place it asked for first, so whatever surrounds it is gated with it.
        """
        gates, gated, module = run.gates, run.gated, self.module
        if self in gated:
            return gated[self]
        gate = gated[self] = gates[module] = gates[module] if module in gates else Gate(run, module)
        for parent in self.parents:
            if parent not in gated:
                parent.gate(run)
        for prepare in self.preparations:
            prepare(run)
        return gate

    def attach(self, run: Run) -> None:
        """Let the gate report; behind hooks of others a hook does, so that it sees what the model goes on with."""
        gate = run.gated[self] if self in run.gated else self.gate(run)
        place, module = run.places[self], self.module
        if gate.is_counted:
            place.count, place.is_counted = gate.returns, True
        if not (module._forward_hooks or torch_module._global_forward_hooks):
            gate.after = place
            return

        def hook(module: nn.Module, args: Any, output: Any) -> Any:
            if run.is_stepped and getcurrent() is run.main:
                place.count, place.is_counted = run.forwards, True
            served = place.report(output)
            return None if served is output else served

        run.hook(module._forward_hooks, hook)


class ModuleInput(Location):
    """The call of a module: serves the pair `(args, kwargs)`, and is where the module can be skipped.

    Args:
        path: path of the module, without the end.
        output: the same module's output.

    Attributes:
        own_lock: what `lock` returned, None before it was called.
    """

    __slots__ = ("output", "own_lock")

    def __init__(self, path: str, output: ModuleOutput) -> None:
        super().__init__(f"{path}.input")
        self.output = output
        self.own_lock: Any = None

    def lock(self) -> Any:
        """The lock that a run of the module holds."""
        if self.own_lock is None:
            self.own_lock = lock_of(self.output.module)
        return self.own_lock

    def attach(self, run: Run) -> None:
        """Let the gate report the calls."""
        gate, place = self.output.gate(run), run.places[self]
        if gate.is_counted:
            place.count, place.is_counted = gate.calls, True
        gate.before = place


class Result(Location):
    """What the traced call returns, `tracer.result`; reported by the run itself."""

    __slots__ = ()

    def attach(self, run: Run) -> None:
        """Nothing to install."""


RESULT = Result("result")

"""Places that a forward passes: `model.transformer.h.0.attn.output`.

A location exists as long as the envoy or operation that owns it and holds nothing of any run. In a run it becomes a
`Place` (see `places`) when the first block asks for it: `attach` then makes the running model report there, and enters
what it installed into the run, which takes everything away again on every path.

Two locations exist per module. The output is reported by a forward hook, put straight into the module's own dict behind
the hooks that are there, so that it sees what the model goes on with. The input is reported by the run's gate in front
of the forward, behind all pre-hooks; only there a module can still be skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import nn

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
        be running. What is installed is entered into the run (`run.hook`, `run.replace_forward`, `run.on_exit`).
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how the model reports at {self.path}")

    def __repr__(self) -> str:
        return f"<location {self.path}>"


class ModuleOutput(Location):
    """What a module returns.

    Args:
        path: path of the module, without the end.
        module: the module.
        parents: outputs of the modules that hold this one, more than one when it is shared.
    """

    __slots__ = ("module", "parents", "preparations")

    def __init__(self, path: str, module: nn.Module, parents: tuple[ModuleOutput, ...] = ()) -> None:
        super().__init__(f"{path}.output")
        self.module = module
        self.parents = parents
        self.preparations: tuple[Callable[[Run], None], ...] = ()

    def attach(self, run: Run) -> None:
        """Hook the module, and the modules around it first.

        A module that has started ignores a hook it is given, so what surrounds an asked place is hooked with it: the
        block may go on to ask for the surrounding module's own output. `preparations` are what else has to be in place
        before the module starts (an instrumented forward).
        """
        for parent in self.parents:
            if parent not in run.places:
                run.attach(parent)
        report = run.places[self].report

        def hook(module: nn.Module, args: Any, output: Any) -> Any:
            served = report(output)
            return None if served is output else served

        run.hook(self.module._forward_hooks, hook)
        for prepare in self.preparations:
            prepare(run)


class ModuleInput(Location):
    """The call of a module: serves the pair `(args, kwargs)`, and is where the module can be skipped.

    Args:
        path: path of the module, without the end.
        output: the same module's output.
    """

    __slots__ = ("output",)

    def __init__(self, path: str, output: ModuleOutput) -> None:
        super().__init__(f"{path}.input")
        self.output = output

    def attach(self, run: Run) -> None:
        """Put the run's gate in front of the forward, and hook the module and what is around it."""
        if self.output not in run.places:
            run.attach(self.output)
        run.gate(self.output.module).place = run.places[self]


class Result(Location):
    """What the traced call returns, `tracer.result`; reported by the run itself."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("result")

    def attach(self, run: Run) -> None:
        """Nothing to install."""

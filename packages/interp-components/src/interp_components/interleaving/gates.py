"""One gate per module and run, in front of the forward: inputs, skips, outputs and replaced forwards all pass here.

The gate is the instance attribute `forward`, written into the module's own dict (`nn.Module.__setattr__` costs 2 us). A
gated module keeps torch's short way through `_call_impl`, which a hook would take from it. torch looks `self.forward` up
once per call, so a gate serves the calls that begin after it was put up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from interp_components.interleaving.places import Place, Skipped
from interp_components.interleaving.seats import getcurrent

if TYPE_CHECKING:
    from interp_components.interleaving.runs import Run

Forward = Callable[..., Any]

# -1 outside of a backward pass. A forward that gradient checkpointing runs once more is no new occurrence.
backward_id: Callable[[], int] = torch._C._current_graph_task_id


class Gate:
    """What stands in front of a module's forward for a run.

    Attributes:
        forward: what the gate lets the call through to.
        before, after: where the call and what it returns are reported, None while nobody asked.
        calls, returns: how many calls of the run have begun and ended here; where forwards are steps, how many steps.
        is_counted: these are all there were; False for a gate that was put up while the model ran.
        began: called with the arguments of each call before anybody is served, for the run to know its rows.
        returned: called after each return, for the run to count its steps.
    """

    __slots__ = (
        "_attributes", "_displaced", "_entry", "_is_open", "after", "before", "began", "calls", "forward", "is_counted",
        "returned", "returns",
    )  # fmt: skip

    def __init__(self, run: Run, module: nn.Module) -> None:
        self.forward: Forward = module.forward
        self.before: Place | None = None
        self.after: Place | None = None
        self.calls = self.returns = 0
        self.is_counted = not run.has_started
        self.began: Callable[[tuple[Any, ...], dict[str, Any]], None] | None = None
        self.returned: Callable[[], None] | None = None
        self._is_open = False
        self._attributes = attributes = module.__dict__
        self._displaced: Forward | None = None
        if "forward" in attributes:
            self._displaced = attributes["forward"]
        gate = self

        def forward(*args: Any, **kwargs: Any) -> Any:
            # Other threads, calls that a block makes itself, inner runs and a backward pass are not this run's forward.
            if getcurrent() is not run.main or (gate.calls and backward_id() != -1):
                return gate.forward(*args, **kwargs)
            if gate.began is not None:
                gate.began(args, kwargs)
            if run.is_stepped:
                gate.number(run.forwards)
            gate.calls += 1
            if gate.before is None:
                result = gate.forward(*args, **kwargs)
            else:
                served = gate.before.pass_by((args, kwargs))
                result = served.value if type(served) is Skipped else gate.forward(*served[0], **served[1])
            gate.returns += 1
            if gate.after is not None:
                result = gate.after.pass_by(result)
            if gate.returned is not None:
                gate.returned()
            return result

        forward.__wrapped__ = self.forward  # type: ignore[attr-defined]  # inspect.signature looks through the gate
        forward.__gate__ = gate  # type: ignore[attr-defined]  # how the gate above finds out that this one is open
        self._entry: Forward | None = forward
        attributes["forward"] = forward

    def number(self, step: int) -> None:
        """Let the call that begins count as the one of this step, however often a forward calls the module."""
        self.calls = self.returns = step
        for place in (self.before, self.after):
            if place is not None:
                place.count, place.is_counted = step, True

    @staticmethod
    def remove(gates: Mapping[nn.Module, Gate]) -> None:
        """Give the modules of all gates of a run their forwards back."""
        for module in gates:
            gate = gates[module]
            attributes, entry = gate._attributes, gate._entry
            gate.before = gate.after = gate.began = gate.returned = gate._entry = None
            gate._is_open = True
            if gate._displaced is None and "forward" in attributes and attributes["forward"] is entry:
                del attributes["forward"]
            else:
                gate._uncover()

    def _uncover(self) -> None:
        """Take away the open gates that are on top.

        Two runs can hold gates on one module (two wrapped roots that share it) and end in either order: a gate that is
        not on top stays as an open door, and goes when the one above it does.
        """
        attributes = self._attributes
        top = attributes.get("forward")
        while (gate := getattr(top, "__gate__", None)) is not None and gate._is_open:
            top = gate._displaced
            if top is None:
                del attributes["forward"]
            else:
                attributes["forward"] = top

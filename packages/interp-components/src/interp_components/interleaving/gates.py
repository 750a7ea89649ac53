"""One gate per module and run, in front of the forward: the input is served and skipped here, a forward is replaced here.

The gate is the instance attribute `forward`, written into the module's own dict (`nn.Module.__setattr__` costs 2 us).
torch looks `self.forward` up once per call, before any hook runs, so a gate serves the calls that begin after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from interp_components.interleaving.places import Place, Skipped

Forward = Callable[..., Any]


class Gate:
    """What stands in front of a module's forward for a run.

    Attributes:
        place: where the call is reported, None while nobody asked for the input.
        forward: what the gate lets the call through to.
        returned: called after each return of the forward, for the run to count its steps.
    """

    __slots__ = ("_displaced", "_is_open", "_module", "forward", "place", "returned")

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._displaced: Forward | None = module.__dict__.get("forward")
        self._is_open = False
        self.place: Place | None = None
        self.returned: Callable[[], None] | None = None
        self.forward: Forward = module.forward
        module.__dict__["forward"] = self._build()

    def _build(self) -> Forward:
        gate = self

        def forward(*args: Any, **kwargs: Any) -> Any:
            if gate.place is not None:
                served = gate.place.report((args, kwargs))
                result = served.value if type(served) is Skipped else gate.forward(*served[0], **served[1])
            else:
                result = gate.forward(*args, **kwargs)
            if gate.returned is not None:
                gate.returned()
            return result

        forward.__wrapped__ = self.forward  # type: ignore[attr-defined]  # inspect.signature looks through the gate
        forward.__gate__ = self  # type: ignore[attr-defined]  # how a gate above finds out that this one is open
        return forward

    def remove(self) -> None:
        """Give the module its forward back.

        Two runs can hold gates on one module (two wrapped roots that share it) and end in either order: a gate that is
        not on top stays as an open door, and goes when the one above it does.
        """
        self._is_open, self.place, self.returned = True, None, None
        attributes = self._module.__dict__
        while (gate := getattr(attributes.get("forward"), "__gate__", None)) is not None and gate._is_open:
            if gate._displaced is None:
                del attributes["forward"]
            else:
                attributes["forward"] = gate._displaced

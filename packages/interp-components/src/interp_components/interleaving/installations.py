"""What a run installs on modules, and its removal: gates, hooks, forwards. Nothing of it stays after the run."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from torch import nn

from interp_components.interleaving.gates import Forward, Gate

if TYPE_CHECKING:
    from interp_components.interleaving.locations import ModuleOutput


class Installation:
    """Everything one run has put on modules.

    Attributes:
        gates: the gate of each module that has one.
        gated: the gate of each module output that is gated with what is around it.
    """

    gated: dict[ModuleOutput, Gate]
    gates: dict[nn.Module, Gate]
    _removals: list[Callable[[], object]]

    def hook(self, hooks: MutableMapping[Any, Any], hook: Callable[..., Any]) -> None:
        """Put `hook` into a module's own hook dict, behind those that are there."""
        hooks[hook] = hook
        self._removals.append(lambda: hooks.pop(hook, None))

    def forward_of(self, module: nn.Module) -> Forward:
        """The forward that calls of `module` run now, behind the gate."""
        return self.gates[module].forward if module in self.gates else module.forward

    def on_exit(self, remove: Callable[[], object]) -> None:
        """Call `remove` when the run ends, on every path; it must not raise."""
        self._removals.append(remove)

    def remove(self) -> None:
        """Take everything away again, in the opposite order."""
        for remove in reversed(self._removals):
            remove()
        Gate.remove(self.gates)
        self.gates, self.gated, self._removals = {}, {}, []

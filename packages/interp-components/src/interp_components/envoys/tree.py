"""The module tree as one index, made when `Envoy(module)` wraps it: first paths, holders, aliases, places.

Envoys are made when they are first asked for, so wrapping a model costs one walk. A module has one envoy, under its
first path in the order of the tree; a second path to it (tied weights, a wrapper's reference) leads to the same envoy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torch import nn

from interp_components.envoys.aliases import Aliases
from interp_components.envoys.children import children_of
from interp_components.envoys.classes import EnvoyClasses
from interp_components.interleaving import ModuleInput, ModuleOutput

if TYPE_CHECKING:
    from interp_components.envoys.envoy import Envoy
    from interp_components.sources import ModuleSource


class Tree:
    """What is known of all modules under one root.

    Attributes:
        paths: the first path of each module.
        holders: the modules that hold a module, more than one when it is shared.
        envoys: the envoys made so far, without the root, which holds the tree.
        sources: their sources, here and not on the envoys, which they hold: a model that is let go of is gone at once.
    """

    def __init__(self, root: nn.Module, path: str, aliases: Aliases, classes: EnvoyClasses) -> None:
        self.paths: dict[nn.Module, str] = {}
        self.holders: dict[nn.Module, list[nn.Module]] = {}
        self.envoys: dict[nn.Module, Envoy] = {}
        self.sources: dict[nn.Module, ModuleSource] = {}
        self.aliases = aliases
        self.classes = classes
        self._outputs: dict[nn.Module, ModuleOutput] = {}
        self._inputs: dict[nn.Module, ModuleInput] = {}
        self.add(root, path, None)
        aliases.bind(self)

    def add(self, module: nn.Module, path: str, holder: nn.Module | None) -> None:
        """Take in a module that was put under `holder`, and all modules in it that are not known yet."""
        holders = self.holders.setdefault(module, [])
        if holder is not None and holder not in holders:
            holders.append(holder)
        if module in self.paths:
            return
        self.paths[module] = path
        for name, child in children_of(module).items():
            if child is not None:
                self.add(child, f"{path}.{name}", module)

    def holder(self, module: nn.Module) -> nn.Module | None:
        """The module that holds `module` on its first path; None for the root."""
        return next(iter(self.holders[module]), None)

    def name(self, module: nn.Module) -> str:
        """The native name of `module` on its first path."""
        return self.paths[module].rpartition(".")[2]

    def output(self, module: nn.Module) -> ModuleOutput:
        """The place of what `module` returns."""
        place = self._outputs.get(module)
        if place is None:
            place = self._outputs[module] = ModuleOutput(self.paths[module], module)
            place.parents = tuple(self.output(caller) for caller in self._callers(module))
        return place

    def input(self, module: nn.Module) -> ModuleInput:
        """The place of the call of `module`."""
        place = self._inputs.get(module)
        if place is None:
            place = self._inputs[module] = ModuleInput(self.paths[module], self.output(module))
        return place

    def _callers(self, module: nn.Module) -> Iterator[nn.Module]:
        """The modules around `module` that have a forward: a `ModuleList` is never called."""
        for holder in self.holders[module]:
            if type(holder).forward is nn.Module.forward:
                yield from self._callers(holder)
            else:
                yield holder

"""A tree of nodes over plain modules, so that properties are tested on the interleaving alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from interp_components.interleaving import End, Location, ModuleInput, ModuleOutput, Run, Worker


class Inner(nn.Module):
    """Returns a tuple: what it was given times two, and the mask."""

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, Any]:
        return hidden * 2, mask


class Block(nn.Module):
    """Calls `inner` by position and keyword, then `last`."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.last = nn.Identity()

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        doubled, mask = self.inner(hidden, mask=torch.ones(2))
        out: torch.Tensor = self.last(doubled + mask)
        return out


class Two(nn.Module):
    """Two blocks, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.second(self.first(hidden))
        return out


class ToyNode:
    """A node; subclasses carry the descriptors under test and are placed by path through `classes`."""

    def __init__(
        self,
        module: nn.Module,
        path: str = "model",
        parent: ToyNode | None = None,
        classes: dict[str, type[ToyNode]] | None = None,
    ) -> None:
        self._module = module
        self.path = path
        self.parent = parent
        self.root: ToyNode = self if parent is None else parent.root
        around = () if parent is None else (parent._output,)
        self._output = ModuleOutput(path, module, around)
        self._input = ModuleInput(path, self._output)
        self._children: dict[str, ToyNode] = {}
        for name, child in module.named_children():
            below = f"{path}.{name}"
            self._children[name] = (classes or {}).get(below, ToyNode)(child, below, self, classes)

    def get(self, name: str) -> ToyNode:
        if name not in self._children:
            raise AttributeError(f"{self.path!r} has no child {name!r}; available: {', '.join(self._children)}")
        return self._children[name]

    def location(self, end: End) -> Location:
        return self._output if end == "output" else self._input


def tree(**classes: type[ToyNode]) -> ToyNode:
    """The tree over `Two`, with node classes by the last part of their paths: `inner` means `first.inner`."""
    paths = {"model": "model", "block": "model.first", "inner": "model.first.inner", "last": "model.first.last"}
    placed = {paths[name]: kind for name, kind in classes.items()}
    return placed.get("model", ToyNode)(Two(), classes=placed)


def run(root: ToyNode, *blocks: Callable[[], object], value: torch.Tensor | None = None) -> Any:
    """Run the model with the blocks and return what it returns; the input is a row of ones."""
    hidden = torch.ones(1, 2) if value is None else value
    return Run(root._input, [Worker(block) for block in blocks]).execute(lambda: root._module(hidden))

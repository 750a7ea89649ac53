"""A module tree as nodes, and a run of it, without envoys: what stands above this room is not needed here."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch import nn

from interp_components.interleaving import ModuleInput, ModuleOutput, Run, Worker, current
from interp_components.sources import ModuleSource


class Host:
    """The node of one module."""

    def __init__(self, module, path="model", parent=None):
        self.module = module
        self.path = path
        self._parent = None if parent is None else weakref.ref(parent)
        self._output = ModuleOutput(path, module, () if parent is None else (parent._output,))
        self._input = ModuleInput(path, self._output)
        self.source = ModuleSource(self, module)
        for name, child in module.named_children():
            setattr(self, name, Host(child, f"{path}.{name}", self))

    @property
    def parent(self):
        return None if self._parent is None else self._parent()

    @property
    def root(self):
        return self if self.parent is None else self.parent.root

    def __reduce__(self):
        return Host, (self.module, self.path, self.parent)

    def location(self, end):
        return self._output if end == "output" else self._input

    def get(self, name):
        return getattr(self, name)

    @property
    def output(self):
        return current(self._output.path).read(self._output)


class Model(nn.Module):
    """Two matrices, a function, a method, a loop."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.act = torch.relu

    def shift(self, x, by=1.0):
        moved = x + by
        return moved

    def forward(self, x):
        hidden = self.first(x).abs()
        hidden = self.shift(hidden, by=2.0)
        hidden = scaled(hidden)
        for _ in range(3):
            hidden = torch.add(hidden, 1)
        hidden += 1
        hidden = self.act(hidden)
        return self.second(hidden)


def scaled(x):
    y = x * 3
    return y


@pytest.fixture
def x():
    return torch.arange(8.0).reshape(2, 4) / 8


@pytest.fixture
def host():
    torch.manual_seed(0)
    return Host(Model())


@pytest.fixture
def run(x):
    """Run blocks over a host, with `x` or another call."""

    def run(host, *blocks, call=None, is_single=True):
        workers = [Worker(block) for block in blocks]
        return Run(host._input, workers, None, is_single).execute(call or (lambda: host.module(x)))

    return run

"""Raises errors of torch in blocks, each many times, from stacks of many depths. A program of its own: it may crash."""

from __future__ import annotations

import random
import sys
from functools import partial

import torch
from torch import nn

from interp_components.tracing import Traceable

MODEL = Traceable(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))
X = torch.ones(2, 4)


def shapes():
    with MODEL.trace(X):
        MODEL[0].output @ torch.ones(7, 7)


def view():
    with MODEL.trace(X):
        MODEL[0].output.view(17)


def index():
    with MODEL.trace(X):
        MODEL[0].output.index_select(0, torch.tensor([99]))


def second_backward():
    with MODEL.trace(X):
        loss = (MODEL.output**2).sum()
        loss.backward()
        loss.backward()


def second_pass():
    with MODEL.trace(X):
        loss = (MODEL.output**2).sum()
        with loss.backward():
            pass
        with loss.backward():
            pass


def block_of_a_pass():
    with MODEL.trace(X):
        output = MODEL.output
        with output.sum().backward():
            output.grad @ torch.ones(7, 7)


KINDS = [shapes, view, index, second_backward, second_pass, block_of_a_pass]


def from_deep(depth, call):
    """Call `call` on top of `depth` calls through C."""
    if depth:
        max([0], key=lambda _: from_deep(depth - 1, call) or 0)
    else:
        call()


def count(kind, counts):
    """Count the error when it came as an exception."""
    try:
        kind()
    except (RuntimeError, IndexError):
        counts[kind.__name__] += 1


if __name__ == "__main__":
    chance = random.Random(0)
    raised = {kind.__name__: 0 for kind in KINDS}
    for _ in range(int(sys.argv[1])):
        for each in KINDS:
            from_deep(chance.randrange(40), partial(count, each, raised))
    print(raised)

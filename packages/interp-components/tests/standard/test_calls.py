"""What is found out once per call of a module."""

from __future__ import annotations

from torch import nn

from interp_components.envoys import Envoy
from interp_components.interleaving import Run, Worker
from interp_components.standard.calls import argument, per_call


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.between = nn.Identity()

    def forward(self, value: int) -> int:
        return self.inner(self.between(self.inner(value, flag=1)), flag=2)


class Inner(nn.Module):
    def forward(self, value: int, flag: int) -> int:
        return value


def run(envoy: Envoy, *blocks: object) -> None:
    Run(envoy._input, [Worker(block) for block in blocks]).execute(lambda: envoy._module(0))


def test_an_answer_is_asked_for_once_per_call_and_block() -> None:
    """It is kept until the block is out of the call, and found out anew in the next one."""
    envoy = Envoy(Twice())
    asked: list[int] = []
    seen: list[object] = []

    def ask() -> object:
        asked.append(0)
        return envoy.inner.inputs[1]["flag"]

    def block() -> None:
        for _ in range(2):
            seen.append(per_call(envoy.inner, "flag", ask))
            seen.append(per_call(envoy.inner, "flag", ask))
            envoy.inner.output  # moves on to the end of the call
            if len(asked) == 1:
                envoy.between.output  # and out of it

    run(envoy, block)

    assert (seen, len(asked)) == ([1, 1, 2, 2], 2)


def test_each_block_asks_for_itself() -> None:
    """An answer belongs to the block that is inside the call."""
    envoy = Envoy(Twice())
    asked: list[int] = []
    ask = lambda: per_call(envoy.inner, "flag", lambda: asked.append(0))  # noqa: E731  # a block, run twice
    run(envoy, ask, ask)

    assert len(asked) == 2


def test_an_argument_that_is_not_given_is_none() -> None:
    """By keyword only."""
    envoy = Envoy(Twice())
    seen: list[object] = []
    run(envoy, lambda: seen.extend([argument(envoy.inner, "flag"), argument(envoy.inner, "other")]))

    assert seen == [1, None]

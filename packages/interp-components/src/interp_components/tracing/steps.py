"""`for step in tracer.iter[:8]:` - a loop over the forwards of a generation, or over the passings of one place.

Every step waits until it begins: until the model's forward of that number starts, or the place that the step before
asked for first is passed for that number of times. When the model is done instead, the loop is over and the code after
it runs. So a bounded loop ends well when a generation stops early.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NoReturn

from interp_components.interleaving import Location, Worker, current


class Loop:
    """A loop over steps, waiting for each.

    Args:
        steps: their numbers, in order.
    """

    def __init__(self, steps: Iterable[int]) -> None:
        self._steps = steps

    def __iter__(self) -> Iterator[int]:
        """The steps that there are."""
        return _loop(self._steps)

    def __enter__(self) -> NoReturn:
        """Refuse: a block under `with` runs once."""
        raise TypeError(
            "tracer.iter gives the steps of a loop: write `for step in tracer.iter[...]:` in place of `with`"
        )

    def __exit__(self, *error: object) -> None:
        """Never called."""


class Steps:
    """`tracer.iter`: give it a step, a slice or a list of steps."""

    def __getitem__(self, steps: int | slice | Sequence[int]) -> Loop:
        """The loop over `steps`.

        Raises:
            ValueError: a step is negative: how many there will be is known at the end only.
        """
        return Loop(_numbers(steps))

    def __iter__(self) -> Iterator[int]:
        """Every step there is."""
        return _loop(count())


class HasSteps:
    """What a tracer of blocks has for their loops."""

    @property
    def iter(self) -> Steps:
        """`for step in tracer.iter[1:3]:` - requests in the loop ask for that step."""
        return Steps()

    def all(self) -> Loop:
        """`for step in tracer.all():` - every step there is."""
        return Steps()[:]


def _numbers(steps: int | slice | Sequence[int]) -> Iterable[int]:
    if isinstance(steps, slice):
        start, stop = steps.start or 0, steps.stop
        _check(start, 0 if stop is None else stop)
        width = 1 if steps.step is None else steps.step
        if width < 1:
            raise ValueError(f"tracer.iter[{start}:{stop}:{width}]: steps come in order, so the width is at least 1")
        return count(start, width) if stop is None else range(start, stop, width)
    numbers = [steps] if isinstance(steps, int) else list(steps)
    _check(*numbers)
    return numbers


def _check(*steps: int) -> None:
    for step in steps:
        if step < 0:
            raise ValueError(
                f"tracer.iter: {step} is negative, and how many steps there are is known at the end only. "
                f"Count from 0; for the last step keep the value in a loop over `tracer.all()`."
            )


def _loop(steps: Iterable[int]) -> Iterator[int]:
    worker = current("tracer.iter")
    before, first_before = worker.step, worker.first_asked
    is_first = True
    worker.run.count_passings()
    try:
        for step in steps:
            if not _arrives(worker, step, None if is_first else worker.first_asked):
                break
            is_first, worker.step, worker.first_asked = False, step, None
            yield step
    finally:
        worker.step, worker.first_asked = before, first_before


def _arrives(worker: Worker, step: int, place: Location | None) -> bool:
    """Wait for the step to begin; False when the model is done before.

    Step 0 has begun with the block, and in a trace of one forward nothing but the place tells that a step begins.
    """
    run = worker.run
    arrivals: list[tuple[Location, int]] = []
    if not run.is_single and step > 0:
        arrivals.append((run.root, step))
    if place is not None:
        arrivals.append((place, step))
    return worker.wait(*arrivals) if arrivals else not run.has_returned

"""What is timed: the same blocks for every library, each case a function that returns nanoseconds of CPU per entry.

A library is its `Tracer`, its `save` and a backend that does nothing.  The blocks stand here as a user would write
them, in functions, so that both libraries find them in a file.
"""

from __future__ import annotations

import importlib.util
import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Case = Callable[[], float]

FILLER = "def filler_{i}(a, b=1):\n    c = a + b\n    if c > {i}:\n        return [x for x in range(c)]\n    return c\n"
ONE_LINE_HEADER = "    with Tracer():\n"
PARENTHESISED_HEADER = "    with (\n        Tracer() as tracer,\n    ):\n"
SITE = "def go(Tracer, save):\n{header}        x = 1\n        y = save([x])\n    return y\n"


def cases(tracer: Any, save: Any, nothing: Any) -> dict[str, Case]:
    """Return every case by name for one library."""
    return {
        "warm entry, backend does nothing": entry(tracer, nothing),
        "whole trip, two names saved": trip(tracer, save),
        "whole trip, reads only": reads(tracer),
        "whole trip, frame of 60 locals": sixty_locals(tracer, save),
        "loop in the body, 100,000 times": loop(tracer, save),
        "the same loop in a plain function": plain_loop(),
        "cold capture, 100-line file": cold(tracer, save, 100, ONE_LINE_HEADER),
        "cold capture, 1,000-line file": cold(tracer, save, 1_000, ONE_LINE_HEADER),
        "cold capture, 10,000-line file": cold(tracer, save, 10_000, ONE_LINE_HEADER),
        "cold capture, parenthesised header, 10,000-line file": cold(tracer, save, 10_000, PARENTHESISED_HEADER),
    }


def per_call(function: Callable[[], object], number: int) -> float:
    """Return CPU nanoseconds per call of `function`, over `number` calls."""
    calls = itertools.repeat(None, number)
    start = time.process_time_ns()
    for _ in calls:
        function()
    return (time.process_time_ns() - start) / number


def entry(Tracer: Any, nothing: Any) -> Case:
    """Time the way in and out alone."""

    def go() -> None:
        with Tracer(nothing):
            x = 1
            y = [x]  # noqa: F841  # the block is never run

    return lambda: per_call(go, 2_000)


def trip(Tracer: Any, save: Any) -> Case:
    """Time a small block with two reads whose two results come back."""

    def go(a: int, b: int) -> tuple[list[int], list[int]]:
        with Tracer():
            x = save([a])
            y = save([b])
        return x, y

    return lambda: per_call(lambda: go(1, 2), 2_000)


def reads(Tracer: Any) -> Case:
    """Time a small block that binds nothing that comes back."""
    seen: list[int] = [0]

    def go(a: int, b: int) -> None:
        with Tracer():
            seen[0] = a + b

    return lambda: per_call(lambda: go(1, 2), 2_000)


def sixty_locals(Tracer: Any, save: Any) -> Case:
    """Time a small block in a function with many locals that it does not touch."""
    names = [f"v{number}" for number in range(60)]
    text = "def go(Tracer, save):\n" + "".join(f"    {name} = [0]\n" for name in names)
    text += "    with Tracer():\n        x = save([v0, v59])\n    return x, " + ", ".join(names) + "\n"
    go = module(text).go
    return lambda: per_call(lambda: go(Tracer, save), 2_000)


def loop(Tracer: Any, save: Any) -> Case:
    """Time a body that is nearly all loop."""

    def go(times: int) -> None:
        with Tracer():
            total = 0
            for number in range(times):
                total += number
            save([total])

    return lambda: per_call(lambda: go(100_000), 1)


def plain_loop() -> Case:
    """Time what the loop costs without any tracer."""

    def go(times: int) -> list[int]:
        total = 0
        for number in range(times):
            total += number
        return [total]

    return lambda: per_call(lambda: go(100_000), 1)


def cold(Tracer: Any, save: Any, lines: int, header: str) -> Case:
    """Time the first entry of a block in the middle of a file that was never looked at before."""

    def go() -> float:
        fillers = [FILLER.format(i=number) for number in range(lines // 5)]
        fillers.insert(len(fillers) // 2, SITE.format(header=header))
        first = module("".join(fillers)).go
        return per_call(lambda: first(Tracer, save), 1)

    return go


def module(text: str) -> Any:
    """Import `text` from a new file, which stays until the process ends."""
    path = Path(tempfile.mkdtemp(dir=FOLDER.name)) / "site.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("benchmark_site", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


FOLDER = tempfile.TemporaryDirectory(prefix="tracer-core-benchmark-")

"""Time one library in its own process: a case name in per line, nanoseconds out per line.

    python worker.py tracer_core.Tracer tracer_core.save

`python benchmarks` starts one worker per library and asks them in turn, so that both meet the same moment of a noisy machine.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

sys.dont_write_bytecode = True

from cases import cases  # noqa: E402  # no bytecode is left beside the sources


def attribute(dotted: str) -> Any:
    """Import a thing by its dotted name."""
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def nothing(tracer: object) -> None:
    """Be a backend that never runs the block."""


def main() -> None:
    """Answer until the input ends."""
    table = cases(attribute(sys.argv[1]), attribute(sys.argv[2]), nothing)
    for line in sys.stdin:
        print(table[line.rstrip("\n")](), flush=True)


if __name__ == "__main__":
    main()

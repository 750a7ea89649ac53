"""Time tracer_core beside another `with`-block tracer, case by case.

    python benchmarks --peer PATH_TO_PYTHON [--rounds 15] [--json FILE] [--markdown FILE]

`--peer` is the interpreter of an environment that has `nnsight`, of the same Python version as this one.  Without it
only this library is timed.  Both run in processes of their own and are asked in turn, in alternating order; the ratio
is the median of the ratios of neighbours, which a noisy machine moves little, and times are CPU times.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
OURS = ("tracer_core.Tracer", "tracer_core.save")
PEER = ("nnsight.tracing.tracer.Tracer", "nnsight.tracing.tracer.save")
LOOP, PLAIN = "loop in the body, 100,000 times", "the same loop in a plain function"
CASES = (
    "warm entry, backend does nothing",
    "whole trip, two names saved",
    "whole trip, reads only",
    "whole trip, frame of 60 locals",
    LOOP,
    PLAIN,
    "cold capture, 100-line file",
    "cold capture, 1,000-line file",
    "cold capture, 10,000-line file",
    "cold capture, parenthesised header, 10,000-line file",
)
IMPORT = "import"
IMPORT_PROGRAM = "import time; t = time.process_time_ns(); import {0}; print(time.process_time_ns() - t)"


@dataclass(frozen=True)
class Row:
    """One line of the table; times in microseconds of CPU, medians."""

    case: str
    ours: float
    peer: float | None
    ratio: float | None
    target: str = ""
    met: bool | None = None


class Worker:
    """A process that times one library."""

    def __init__(self, python: str, names: tuple[str, str]) -> None:
        """Start it; it imports the library before the first answer."""
        command = [python, str(HERE / "worker.py"), *names]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def time(self, case: str) -> float:
        """Return microseconds per entry of `case`, measured now."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(case, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline()) / 1_000

    def close(self) -> None:
        """End the process and wait for it."""
        self.process.communicate()


def pairs(ours: Callable[[], float], peer: Callable[[], float] | None, rounds: int) -> list[tuple[float, float | None]]:
    """Measure both `rounds` times, neighbours in time, the order alternating."""
    found: list[tuple[float, float | None]] = []
    for number in range(rounds):
        if peer is None:
            found.append((ours(), None))
        elif number % 2:
            first = ours()
            found.append((first, peer()))
        else:
            second = peer()
            found.append((ours(), second))
    return found


def row(case: str, measured: list[tuple[float, float | None]]) -> Row:
    """Return the medians of one case; the first pair is warm-up."""
    measured = measured[1:] if len(measured) > 1 else measured
    both = [(ours, peer) for ours, peer in measured if peer is not None]
    return Row(
        case,
        statistics.median(ours for ours, _ in measured),
        statistics.median(peer for _, peer in both) if both else None,
        statistics.median(ours / peer for ours, peer in both) if both else None,
    )


def import_time(python: str, module: str, cache: str) -> float:
    """Return microseconds of CPU that the first import takes in a fresh process, from bytecode in the folder `cache`."""
    command = [python, "-c", IMPORT_PROGRAM.format(module)]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout) / 1_000


def with_target(row: Row, loop_ratio: float, version: tuple[int, int]) -> Row:
    """Add what the figure has to be, where there is such a promise."""
    target, met = "", None
    if row.case == CASES[0] and version >= (3, 11):
        limit = 0.8 if version == (3, 11) else 0.25
        target, met = f"ratio ≤ {limit}", None if row.ratio is None else row.ratio <= limit
    elif row.case == LOOP:
        target, met = f"≤ 1.05 x plain ({loop_ratio:.2f})", loop_ratio <= 1.05
    elif row.case == CASES[-1]:
        target, met = "< 2,000 us", row.ours < 2_000
    elif row.case.startswith("cold"):
        target, met = "≤ peer + 50 us", None if row.peer is None else row.ours <= row.peer + 50
    elif row.case == IMPORT:
        target, met = "< 20,000 us", row.ours < 20_000
    return Row(row.case, row.ours, row.peer, row.ratio, target, met)


def measure(peer_python: str | None, rounds: int) -> list[Row]:
    """Return a row per case."""
    ours = Worker(sys.executable, OURS)
    peer = Worker(peer_python, PEER) if peer_python else None
    rows = []
    for case in CASES:
        ask_peer = partial(peer.time, case) if peer else None
        rows.append(row(case, pairs(partial(ours.time, case), ask_peer, rounds)))
        print(f"  {case}", file=sys.stderr, flush=True)
    loop_ratio = row(LOOP, pairs(partial(ours.time, LOOP), partial(ours.time, PLAIN), rounds)).ratio or 0.0
    ours.close()
    if peer:
        peer.close()
    with tempfile.TemporaryDirectory() as cache:
        imports = partial(import_time, sys.executable, "tracer_core", cache)
        peers = partial(import_time, peer_python, "nnsight.tracing.tracer", cache) if peer_python else None
        rows.append(row(IMPORT, pairs(imports, peers, min(rounds, 7))))
    return [with_target(one, loop_ratio, sys.version_info[:2]) for one in rows]


def markdown(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| case | tracer_core, us | peer, us | ratio | target | met |", "|---|---:|---:|---:|---|---|"]
    for one in rows:
        peer = "-" if one.peer is None else f"{one.peer:,.2f}"
        ratio = "-" if one.ratio is None else f"{one.ratio:.2f}"
        met = {None: "", True: "yes", False: "no"}[one.met]
        lines.append(f"| {one.case} | {one.ours:,.2f} | {peer} | {ratio} | {one.target} | {met} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print the table and write the files that were asked for."""
    parser = argparse.ArgumentParser(description="Time tracer_core beside another tracer.")
    parser.add_argument("--peer", help="interpreter of an environment with the peer")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    rows = measure(options.peer, options.rounds)
    print(markdown(rows))
    if options.json:
        made = {"python": sys.version.split()[0], "rows": [asdict(one) for one in rows]}
        options.json.write_text(json.dumps(made, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(rows))


if __name__ == "__main__":
    main()

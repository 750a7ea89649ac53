"""Measure interp_components beside its peers and beside hooks written by hand.

    python benchmarks --peer "nnsight=PATH_TO_PYTHON" --peer "TransformerLens=PATH" [--markdown FILE]

`nox -s bench-components` makes an environment for each peer and writes `docs/performance.md`. A peer without `--peer` is
left out. Each library works in a process of its own, one of them at a time. For every case the rounds go from library to
library, and within a round each times plain torch, hooks and itself in turn, so that all meet the same moments of a noisy
machine. Times are CPU times; what is reported are medians of the ratios of neighbours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from adapters import ADAPTERS
from cases import CASES
from report import Cell, Key, write
from shapes import SHAPES

HERE = Path(__file__).parent
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


class Worker:
    """A process that measures one library."""

    def __init__(self, name: str, python: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **ENVIRONMENT},
        )  # fmt: skip

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """The worker's answer; an error when it has died."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps({"do": do, **request}), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return {"error": "the process has ended"}
        line = self.process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the process has ended"}
        return answer

    def close(self) -> None:
        """End the process and wait for it."""
        self.process.communicate()


def measure(workers: list[Worker], case: str, shape: str, rounds: int) -> dict[Key, Cell]:
    """One case on one shape, by all libraries that do it."""
    cells: dict[Key, Cell] = {}
    checks = {worker.name: worker.ask("check", case=case, shape=shape) for worker in workers}
    for name, check in checks.items():
        if "error" in check:
            print(f"{case} on {shape}: {name}: {check['error']}", file=sys.stderr)
    live = [worker for worker in workers if "apart" in checks[worker.name]]
    samples: dict[str, list[dict[str, float]]] = {worker.name: [] for worker in live}
    for turn in range(rounds):
        for worker in live:
            answer = worker.ask("sample", case=case, shape=shape, turn=turn)
            if "error" not in answer:
                samples[worker.name].append(answer)
    for worker in live:
        found = samples[worker.name]
        if found:
            check = checks[worker.name]
            column = "library" if worker.name != "hooks" else "hooks"
            cells[case, shape, worker.name] = Cell(
                ratio=statistics.median(each[column] / each["bare"] for each in found),
                over=statistics.median(each[column] - each["bare"] for each in found),
                bare=statistics.median(each["bare"] for each in found),
                calls=check[f"{column}_calls"],
                apart=check["apart"],
            )
    return cells


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help="a peer's interpreter")
    parser.add_argument("--rounds", type=int, default=15, help="samples of each case by each library")
    parser.add_argument("--cases", default=",".join(CASES), help="which cases, by their names in cases.py")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="which models, by their names in shapes.py")
    parser.add_argument("--markdown", type=Path, help="where to write the page; its plot goes beside it")
    options = parser.parse_args()
    peers = dict(peer.split("=", 1) for peer in options.peer)
    pythons = {name: peers.get(name.split()[0], sys.executable) for name in ADAPTERS}
    ours = {"hooks", "Envoy", "StandardizedTransformer"}
    pythons = {name: python for name, python in pythons.items() if name in ours or name.split()[0] in peers}
    workers = [Worker(name, python) for name, python in pythons.items()]
    starts = {worker.name: worker.ask("start", shape="deep") for worker in workers if worker.name != "hooks"}
    cells: dict[Key, Cell] = {}
    for shape in options.shapes.split(","):
        # Cases of one kind of attention follow one another: a worker holds one model at a time.
        for case in sorted(options.cases.split(","), key=lambda case: CASES[case].attention):
            if shape in CASES[case].shapes:
                cells |= measure(workers, case, shape, options.rounds)
                print(f"{case} on {shape}: done", file=sys.stderr, flush=True)
        write(
            cells, starts, list(pythons), options
        )  # after each shape, so that a run that is ended early leaves a page
    for worker in workers:
        worker.close()


if __name__ == "__main__":
    main()

"""Say which jobs a change needs.

`python tooling/changed.py BASE` prints `core=true`, `components=false`, ... for the files that differ between BASE and
HEAD, in the form that a workflow's output file takes. Without a BASE (a push without a parent, a manual run) all are
true.

What is decided here: a change of tracer-core runs both packages' jobs, a change of the frame runs everything, and what
nobody has placed runs everything too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable

JOBS = ("core", "components", "docs")
# The first prefix that fits decides.
NEEDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("packages/tracer-core/tests/", frozenset({"core"})),
    ("packages/tracer-core/benchmarks/", frozenset({"core"})),
    ("packages/tracer-core/", frozenset(JOBS)),
    ("packages/interp-components/tests/", frozenset({"components"})),
    ("packages/interp-components/benchmarks/", frozenset({"components"})),
    ("packages/interp-components/", frozenset({"components", "docs"})),
    ("docs/", frozenset({"docs"})),
    ("mkdocs.yml", frozenset({"docs"})),
    ("README.md", frozenset({"docs"})),
    ("CONTRIBUTING.md", frozenset()),
)


def needed(paths: Iterable[str]) -> set[str]:
    """The jobs that a change of `paths` (relative to the root, with `/`) needs."""
    found: set[str] = set()
    for path in paths:
        found |= next((jobs for prefix, jobs in NEEDS if path.startswith(prefix)), frozenset(JOBS))
    return found


def differing(base: str) -> list[str]:
    """The files that differ between the common ancestor of `base` and HEAD, and HEAD."""
    listed = subprocess.run(
        ["git", "diff", "--name-only", "-z", "--no-renames", f"{base}...HEAD"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for path in listed.stdout.split("\0") if path]


def main() -> int:
    """Print one line a job."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "base", nargs="?", default="", help="what to compare HEAD with; everything is needed without it"
    )
    base: str = parser.parse_args().base
    jobs = needed(differing(base)) if base.strip("0") else set(JOBS)
    for job in JOBS:
        print(f"{job}={str(job in jobs).lower()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

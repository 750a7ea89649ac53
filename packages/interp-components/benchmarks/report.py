"""`docs/performance.md`: what was measured, as tables and one plot."""

from __future__ import annotations

import os
import platform
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from cases import CASES
from shapes import SHAPES

Key = tuple[str, str, str]
OURS = ("Envoy", "StandardizedTransformer")


class Cell(NamedTuple):
    """What one library took for one case.

    Attributes:
        ratio: to plain torch.
        over: microseconds over plain torch.
        bare: microseconds of plain torch.
        calls: Python and C calls over those of plain torch.
        apart: the largest difference from what the hooks found.
    """

    ratio: float
    over: float
    bare: float
    calls: int
    apart: float


INTRODUCTION = """\
# Performance

What a job costs beside the plain torch run that it looks into, for interp_components, its peers, and hooks written by hand.
The figures are those of one run of the benchmark; `nox -s bench-components` repeats it and writes this page anew.
Nothing here is asserted in a test.
What is asserted is the number of calls, in `tests/tracing/test_cost.py` and `tests/model/test_cost.py`.

`Envoy` wraps any module as it is.
`StandardizedTransformer` also reads, checks and pads the input, and makes its attention mask, which the plain run does not.

## How it is measured

Each library has an environment and a process of its own, and in it a model and a twin of the model with the same weights.
A sample is the least CPU time of three calls, after one that is not timed.
Plain torch, hooks and library are sampled in turn, one library after the other, and what is shown are medians of the ratios of neighbours.
An empty cell is a job that the library does not do, did with other tensors than the hooks, or was not asked for in this run.
Calls are the same everywhere; times are what the machine made of them.
"""


def write(
    cells: dict[Key, Cell], starts: dict[str, dict[str, float]], libraries: Sequence[str], options: Namespace
) -> None:
    """Write the page, or print it where no file is named."""
    cells = {key: cell for key, cell in cells.items() if cell.apart < 1e-3}
    parts = [INTRODUCTION, machine(options.rounds, noise(cells))]
    for shape, about in SHAPES.items():
        rows = [case for case in CASES if any(key[:2] == (case, shape) for key in cells)]
        if rows:
            size = "one linear layer" if shape == "toy" else f"GPT-2 with {about.layers} layers of width {about.width}"
            parts += [f"## {shape}: {size}\n", "CPU time as a multiple of plain torch, and microseconds over it.\n"]
            parts += [table(cells, rows, shape, libraries, lambda cell: f"{cell.ratio:.2f} ({cell.over:+.0f})", True)]
    parts += [
        "## Calls over the plain run\n",
        "Python and C functions called by one warm run; the same on every machine.\n",
    ]
    for shape in ("tiny", "deep"):
        rows = [case for case in CASES if any(key[:2] == (case, shape) for key in cells)]
        if rows:
            parts += [f"On {shape}:\n", table(cells, rows, shape, libraries, lambda cell: f"{cell.calls:+d}", False)]
    parts += [losses(cells), growth(cells, libraries), speed_of_harvest(cells, libraries), beginning(starts)]
    if options.markdown is None:
        sys.stdout.write("\n".join(part for part in parts if part))
        return
    plot = options.markdown.with_suffix(".svg")
    plot.write_text(bars(cells, libraries))
    parts.insert(2, f"![Calls over plain torch, deep]({plot.name})\n")
    options.markdown.write_text("\n".join(part for part in parts if part))


def noise(cells: dict[Key, Cell]) -> float:
    """How far a ratio may be off: no hook makes plain torch faster, so what looks like it is the machine's doing."""
    return max((1 - cell.ratio for (_, _, library), cell in cells.items() if library == "hooks"), default=0.0)


def machine(rounds: int, doubt: float) -> str:
    """Where it was measured."""
    return (
        f"Measured with {rounds} rounds, one thread, on {platform.machine()} with {os.cpu_count()} cores, which others "
        f"used as well (load average {os.getloadavg()[0]:.0f}), "
        f"Python {platform.python_version()}, torch {torch.__version__}.\n"
        f"Hooks came out up to {doubt:.0%} faster than the run without them, so differences of that size are noise.\n"
    )


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def table(
    cells: dict[Key, Cell],
    rows: Sequence[str],
    shape: str,
    libraries: Sequence[str],
    text: Callable[[Cell], str],
    shows_bare: bool,
) -> str:
    """Cases down, libraries across; the first column is plain torch."""
    lines = []
    for case in rows:
        found = [cells.get((case, shape, library)) for library in libraries]
        bare = next(f"{cell.bare:.0f} us" for cell in found if cell is not None)
        shown = ["" if cell is None else text(cell) for cell in found]
        lines.append([CASES[case].title, *([bare] if shows_bare else []), *shown])
    return grid(["", *(["plain"] if shows_bare else []), *libraries], lines)


def losses(cells: dict[Key, Cell]) -> str:
    """Where another library took less time, beyond what is noise."""
    lines, doubt = [], noise(cells)
    for case, shape in dict.fromkeys(key[:2] for key in cells):
        there = {library: cell for (*place, library), cell in cells.items() if place == [case, shape]}
        own = [there.pop(library) for library in OURS if library in there]
        for library, cell in there.items():
            if own and library != "hooks" and cell.ratio < min(each.ratio for each in own) - doubt:
                best = min(each.ratio for each in own)
                lines.append(
                    f"- {CASES[case].title}, {shape}: {library} takes {cell.ratio:.2f} of plain torch, this {best:.2f}."
                )
            if own and library != "hooks" and cell.calls < min(each.calls for each in own):
                best = min(each.calls for each in own)
                lines.append(f"- {CASES[case].title}, {shape}: {library} makes {cell.calls} calls, this {best}.")
    text = "\n".join(lines) or "Nowhere in this run, neither in time beyond the noise nor in calls."
    return f"## Where a peer does less\n\n{text}\n"


def growth(cells: dict[Key, Cell], libraries: Sequence[str]) -> str:
    """What one more of each costs, from two cases that differ in how many there are."""
    slopes = {
        "layer that nobody asks for": (("empty", "deep"), ("empty", "tiny"), 10),
        "layer read": (("save_all", "deep"), ("save_one", "deep"), 11),
        "layer edited": (("edit_all", "deep"), ("edit_one", "deep"), 11),
        "invoke": (("invokes_16", "tiny"), ("invokes_4", "tiny"), 12),
        "step saved": (("generate_save", "tiny"), ("generate", "tiny"), 32),
    }
    rows = []
    for name, (more, less, count) in slopes.items():
        row = [f"one more {name}"]
        for library in libraries:
            many, few = cells.get((*more, library)), cells.get((*less, library))
            text = ""
            if many is not None and few is not None:
                text = f"{(many.calls - few.calls) / count:+.0f}"
            row.append(text)
        if any(row[1:]):
            rows.append(row)
    return "## Growth\n\nWhat one more of each adds to the calls over plain torch.\n\n" + grid(["", *libraries], rows)


def speed_of_harvest(cells: dict[Key, Cell], libraries: Sequence[str]) -> str:
    """Tokens per second."""
    rows = []
    for shape in CASES["harvest"].shapes:
        tokens = CASES["harvest"].prompts * SHAPES[shape].tokens
        found = [cells.get(("harvest", shape, library)) for library in libraries]
        if any(found):
            bare = next(cell.bare for cell in found if cell is not None)
            speeds = ["" if cell is None else f"{tokens / (cell.bare + cell.over) * 1e6:,.0f}" for cell in found]
            rows.append([shape, f"{tokens / bare * 1e6:,.0f}", *speeds])
    if not rows:
        return ""
    return "## Harvesting activations\n\nTokens per second of CPU time.\n\n" + grid(["", "plain", *libraries], rows)


def beginning(starts: dict[str, dict[str, float]]) -> str:
    """Import, wrap, first trace, memory."""
    rows = [
        [name, *(f"{found[key] * 1000:.0f} ms" for key in ("import", "wrap", "first")), f"{found['memory']:.1f} MB"]
        for name, found in starts.items()
        if "error" not in found
    ]
    head = [
        "",
        "import, torch and transformers' model being there",
        "wrap",
        "first trace",
        "peak memory over a plain run",
    ]
    return "## Start\n\nOn deep, once, in a new process.\n\n" + grid(head, rows)


COLOURS = ("#777777", "#1f6f4a", "#3fa36f", "#b5563c", "#d98b6f", "#6c5b9e", "#b8a13a")


def bars(cells: dict[Key, Cell], libraries: Sequence[str]) -> str:
    """The plot: calls over plain torch on `deep`, cut off where the peers leave the page."""
    cases = ("empty", "save_one", "save_all", "edit_all", "pattern_all")
    highest, height, width, left, top = 4000.0, 220, 13, 50, 30
    step = width * (len(libraries) + 2)
    drawn = []
    for column, case in enumerate(cases):
        for row, library in enumerate(libraries):
            cell = cells.get((case, "deep", library))
            if cell is not None:
                length = max(1.0, min(cell.calls, highest) / highest * height)
                x, y = left + column * step + row * width, top + height - length
                drawn.append(
                    f'<rect x="{x}" y="{y:.1f}" width="{width - 2}" height="{length:.1f}" fill="{COLOURS[row]}"/>'
                )
        drawn.append(f'<text x="{left + column * step}" y="{top + height + 16}">{case}</text>')
    for mark in range(0, 4001, 1000):
        y = top + height - mark / highest * height
        drawn.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{mark}</text>')
    for row, library in enumerate(libraries):
        x, y = left + len(cases) * step + 10, top + 14 + row * 18
        drawn.append(f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{COLOURS[row]}"/>')
        drawn.append(f'<text x="{x + 16}" y="{y}">{library}</text>')
    total = left + len(cases) * step + 220
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {top + height + 30}" '
        f'font-family="sans-serif" font-size="12" fill="#444444">'
    )
    return "\n".join([head, '<text x="6" y="16">calls over plain torch, deep</text>', *drawn, "</svg>", ""])

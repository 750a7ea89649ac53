"""Which value is there in which family, under which attention, on which release of transformers: docs/compatibility.md.

`python tools/compatibility.py measure` checks every architecture of the tests (`StandardizedTransformer.check()`) on the
release that is installed and prints what it found as JSON; `... write FILE...` joins such findings into the page. They
are two steps since one process sees one release: `nox -s compatibility` runs the first once per release.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

PACKAGE = Path(__file__).parents[1]
PAGE = PACKAGE.parents[1] / "docs" / "compatibility.md"
ATTENTION = ("eager", "sdpa")

Outcomes: TypeAlias = dict[str, dict[str, dict[str, list[str]]]]
"""Family to attention implementation to what was looked at to its outcomes over the shapes of the architecture."""
Measured: TypeAlias = tuple[str, Outcomes]
"""A release, and what was found on it."""

HEAD = """\
# Compatibility

This page is written by `nox -s compatibility`, which runs `model.check()` on a tiny random model of every architecture.

The oldest release that interp-components declares is the oldest on which everything passes.

In the tables of values there stands

- **yes** where the value is there, has its layout, and fits the other values;
- **some** where it is there in some shapes of the architecture; `model.support()` says which, and why not;
- **no** where it is not there; `model.support()` says why, and what to do about it;
- **FAILS** where it is not what it should be.
"""


# Any: a shape is a subclass of the tests' `FamilyContract`, which is no part of the package.
def shapes() -> Iterator[tuple[str, Any]]:
    """Each architecture of the tests, by the family that it belongs to."""
    contract = importlib.import_module("tests.families.contract").FamilyContract
    for path in sorted((PACKAGE / "tests" / "families").glob("test_*.py")):
        module = importlib.import_module(f"tests.families.{path.stem}")
        for found in vars(module).values():
            is_shape = isinstance(found, type) and issubclass(found, contract) and found.__module__ == module.__name__
            if is_shape and hasattr(found, "config"):
                yield path.stem.removeprefix("test_"), found


def measure() -> Outcomes:
    """Check every architecture under each attention implementation that it has."""
    from interp_components.model import StandardizedTransformer  # the page is written without torch

    measured: Outcomes = {}
    for family, shape in shapes():
        for attention in ATTENTION if shape.has_sdpa else ATTENTION[:1]:
            into = measured.setdefault(family, {}).setdefault(attention, {})
            try:
                found = StandardizedTransformer(shape.built(attention)).check().findings
            except Exception as error:  # a release without the architecture, or one that its tiny config does not fit
                into.setdefault(f"cannot be checked: {type(error).__name__}", []).append("failed")
                continue
            for finding in found:
                into.setdefault(finding.what, []).append(finding.outcome)
    return measured


def cell(outcomes: Sequence[str]) -> str:
    """How the outcomes of one value over the shapes of an architecture read."""
    seen = set(outcomes)
    if "failed" in seen:
        return "FAILS"
    if seen == {"ok"}:
        return "yes"
    return "some" if "ok" in seen else "no"


def page(measured: Sequence[Measured]) -> str:
    """The page; the last release is the one that the tables of values are of."""
    newest, outcomes = measured[-1]
    parts = [HEAD, "## Releases of transformers\n", _releases(measured)]
    for attention in ATTENTION:
        parts += [f"## Values under {attention} attention, transformers {newest}\n", _values(outcomes, attention)]
    return "\n".join(parts)


def _releases(measured: Sequence[Measured]) -> str:
    families = sorted({family for _, outcomes in measured for family in outcomes})
    rows = [[f"`{family}`", *(_verdict(outcomes.get(family, {})) for _, outcomes in measured)] for family in families]
    return _table(["family", *(release for release, _ in measured)], rows)


def _verdict(found: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    failing = sorted({what for each in found.values() for what, outcomes in each.items() if "failed" in outcomes})
    if not found:
        return "no"
    return f"FAILS: {', '.join(f'`{what}`' for what in failing)}" if failing else "passes"


def _values(outcomes: Outcomes, attention: str) -> str:
    found = {family: each[attention] for family, each in sorted(outcomes.items()) if attention in each}
    # An identity between values has a sentence for a name; here are the values.
    values = dict.fromkeys(what for each in found.values() for what in each if " " not in what)
    cells = {value: [cell(each.get(value, ["absent"])) for each in found.values()] for value in values}
    parts = [
        f"{told}: {', '.join(map(_name, alike))}.\n"
        for told, answer in (("In every family", "yes"), ("In no family", "no"))
        if (alike := [value for value in values if set(cells[value]) == {answer}])
    ]
    differing = [value for value in values if len(set(cells[value])) > 1]
    rows = [[f"`{family}`", *(cells[value][index] for value in differing)] for index, family in enumerate(found)]
    return "\n".join([*parts, _table(["family", *map(_name, differing)], rows)])


def _name(value: str) -> str:
    return f"`{value.removeprefix('layers.')}`"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Print what was measured, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["measure", "write"])
    parser.add_argument("files", nargs="*", type=Path, help="what `measure` printed, oldest release first")
    arguments = parser.parse_args()
    if arguments.step == "measure":
        import transformers

        sys.path.insert(0, str(PACKAGE))  # the architectures are those of the tests
        json.dump([transformers.__version__, measure()], sys.stdout)
    else:
        PAGE.write_text(page([tuple(json.loads(file.read_text())) for file in arguments.files]), encoding="utf-8")


if __name__ == "__main__":
    main()

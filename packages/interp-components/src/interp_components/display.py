"""What people see: data in, strings out.

The lines of a repr, the support table and the report of a check as text and as HTML, and the names that were probably
meant. Nothing here knows a module or a run.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Reason: TypeAlias = str | Mapping[int, str] | None


def value_line(
    name: str, layout: str | None, dims: tuple[str, ...], *, is_optional: bool, description: str | None
) -> str:
    """Return the line of one value: `(raw_scores) -> Pattern [batch num_heads query key]: q @ k^T`."""
    line = f"({name})"
    if layout is not None:
        line += f" -> {layout}{' | None' if is_optional else ''}"
    if dims:
        line += f" [{' '.join(dims)}]"
    return f"{line}: {description}" if description else line


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'a' or 'b'?` for the known names nearest to `name`, or nothing when none is near."""
    near = difflib.get_close_matches(name, list(known), n=3)
    return f"; did you mean {' or '.join(repr(each) for each in near)}?" if near else ""


class SupportTable(dict[str, Reason]):
    """Name of each value to why it is not there; prints as a table.

    A reason is None when the value is there, a sentence, or, over several blocks, the sentence of each block that lacks
    the value.
    """

    def __repr__(self) -> str:
        """Return the table as text, what is there first."""
        width = max(map(len, self), default=0)
        rows = sorted(self.items(), key=lambda row: row[1] is not None)
        return "\n".join(f"{name:<{width}}  {_answer(reason)}" for name, reason in rows)

    def _repr_html_(self) -> str:
        return _table(("value", "there"), ((name, _answer(reason)) for name, reason in self.items()))


Outcome: TypeAlias = Literal["ok", "failed", "absent"]
_SHOWN: Final[dict[Outcome, str]] = {"failed": "FAILED", "ok": "ok", "absent": "absent"}


@dataclass(frozen=True)
class Finding:
    """What one look at a model found: a value, or an identity between values."""

    what: str
    outcome: Outcome
    says: str
    """What was seen, where it is otherwise, or why it is not there."""


@dataclass(frozen=True)
class Report:
    """What `model.check()` found; prints with what failed on top.

    Attributes:
        title: What was checked.
        findings: Everything that was looked at, in the order of the model.
    """

    title: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed; a value that is not there, and says so, is no failure."""
        return not self.failures

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that failed."""
        return tuple(finding for finding in self.findings if finding.outcome == "failed")

    def __repr__(self) -> str:
        """Return the report as text."""
        rows = [(_SHOWN[finding.outcome], finding.what, finding.says) for finding in self._sorted()]
        width = max((len(what) for _, what, _ in rows), default=0)
        return "\n".join([self._summary(), *(f"{shown:<6}  {what:<{width}}  {says}" for shown, what, says in rows)])

    def _repr_html_(self) -> str:
        rows = ((_SHOWN[finding.outcome], finding.what, finding.says) for finding in self._sorted())
        return f"<p>{html.escape(self._summary())}</p>{_table(('', 'what', 'found'), rows)}"

    def _summary(self) -> str:
        counts = [sum(finding.outcome == outcome for finding in self.findings) for outcome in _SHOWN]
        return f"{self.title}: {counts[0]} failed, {counts[1]} ok, {counts[2]} absent"

    def _sorted(self) -> list[Finding]:
        return sorted(self.findings, key=lambda finding: list(_SHOWN).index(finding.outcome))


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """An HTML table; the cells are text, whatever is in them."""
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _answer(reason: Reason) -> str:
    if reason is None:
        return "yes"
    if isinstance(reason, str):
        return f"no: {reason}"
    by_reason: dict[str, list[int]] = {}
    for layer, each in reason.items():
        by_reason.setdefault(each, []).append(layer)
    return "; ".join(f"not on {spans(layers)}: {each}" for each, layers in by_reason.items())


def spans(numbers: Iterable[int]) -> str:
    """Return ascending numbers with runs drawn together: `0-2, 5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)

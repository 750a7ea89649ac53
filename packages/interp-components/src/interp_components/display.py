"""What people see: data in, strings out.

The lines of a repr, the support table as text and as HTML, and the names that were probably meant. Nothing here knows a
module or a run.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable, Mapping
from typing import TypeAlias

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
        rows = "".join(
            f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(_answer(reason))}</td></tr>"
            for name, reason in self.items()
        )
        return f"<table><tr><th>value</th><th>there</th></tr>{rows}</table>"


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

"""What people see: data in, strings out.

The lines of a repr, the support table as text and as HTML, and the names that were probably meant. Nothing here knows a
module or a run.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable


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


class SupportTable(dict[str, "str | None"]):
    """Name of each value to the reason why it is not there, or None when it is; prints as a table."""

    def __repr__(self) -> str:
        """Return the table as text, what is there first."""
        width = max(map(len, self), default=0)
        there = [f"{name:<{width}}  yes" for name, reason in self.items() if reason is None]
        missing = [f"{name:<{width}}  no: {reason}" for name, reason in self.items() if reason is not None]
        return "\n".join([*there, *missing])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{html.escape(name)}</code></td><td>{'yes' if reason is None else 'no'}</td>"
            f"<td>{html.escape(reason or '')}</td></tr>"
            for name, reason in self.items()
        )
        return f"<table><tr><th>value</th><th>there</th><th>reason</th></tr>{rows}</table>"

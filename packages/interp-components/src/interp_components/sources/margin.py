"""What `print(model.transformer.h[0].attn.source)` shows: the code, with the labels in the margin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from interp_components.sources.labelled import Labelled
from interp_components.sources.listing import Listed


def rows(labelled: Labelled) -> Iterator[tuple[str, int | None, str]]:
    """Label, number and text of each line; further labels of a line are in rows of their own, without number and text."""
    of_line: defaultdict[int, list[str]] = defaultdict(list)
    for operation in labelled.operations:
        of_line[operation.line].append(operation.name)
    for line, text in enumerate(labelled.lines, labelled.first_line):
        first, *more = of_line[line] or [""]
        yield first, line, text.rstrip()
        yield from ((name, None, "") for name in more)


def place(labelled: Labelled) -> str:
    """Return where the function stands, and its name."""
    return f"{labelled.filename}:{labelled.first_line}, {labelled.qualname}"


def with_margin(labelled: Labelled) -> str:
    """Return the function's text with the labels of each line beside it, in order, one below the other."""
    width = max(map(len, labelled.places), default=0)
    digits = len(str(labelled.first_line + len(labelled.lines) - 1))
    lines = (f"{label:<{width}} {number or '':>{digits}} | {text}".rstrip() for label, number, text in rows(labelled))
    return "\n".join([place(labelled), *lines])


def one_line(labelled: Labelled, operation: Listed) -> str:
    """Return the place and the text of the line that an operation stands in."""
    text = labelled.lines[operation.line - labelled.first_line].strip()
    return f"{labelled.filename}:{operation.line}: {text}"

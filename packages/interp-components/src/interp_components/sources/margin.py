"""What `print(model.transformer.h[0].attn.source)` shows: the code, with the labels in the margin."""

from __future__ import annotations

from collections import defaultdict

from interp_components.sources.labelled import Labelled
from interp_components.sources.listing import Listed


def with_margin(labelled: Labelled) -> str:
    """Return the function's text with the labels of each line beside it, in order, one below the other."""
    of_line: defaultdict[int, list[str]] = defaultdict(list)
    for operation in labelled.operations:
        of_line[operation.line].append(operation.name)
    width = max(map(len, labelled.places), default=0)
    digits = len(str(labelled.first_line + len(labelled.lines) - 1))
    rows = [f"{labelled.filename}:{labelled.first_line}, {labelled.qualname}"]
    for line, text in enumerate(labelled.lines, labelled.first_line):
        first, *more = of_line[line] or [""]
        rows.append(f"{first:<{width}} {line:>{digits}} | {text.rstrip()}".rstrip())
        rows.extend(f"{name:<{width}} {'':>{digits}} |" for name in more)
    return "\n".join(rows)


def one_line(labelled: Labelled, operation: Listed) -> str:
    """Return the place and the text of the line that an operation stands in."""
    text = labelled.lines[operation.line - labelled.first_line].strip()
    return f"{labelled.filename}:{operation.line}: {text}"

"""From a place in the running code to the exact `with` item in its text.

`with first(), Tracer() as t, last():` has three items; the instruction that enters the tracer tells which one is meant.
Parsing a whole file is slow and grows with the file, so the statement alone is cut out: from its `with` line (a `with`
statement always begins a line) to the first line that is indented no deeper and at which the slice parses. The slice
keeps its place and indentation, so lines and columns are those of the file. Only when no slice fits, the file is parsed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import NamedTuple, TypeAlias

from tracer_core import bytecode

Position = bytecode.Position
With: TypeAlias = "ast.With | ast.AsyncWith"
Span: TypeAlias = "tuple[int, int, int, int]"

_STATEMENT = re.compile(r"[ \t\f]*(?:async[ \t]+)?with\b")


class Region(NamedTuple):
    """A part of the text, from (line, column) to (line, column)."""

    start: tuple[int, int]
    end: tuple[int, int]

    def holds(self, position: Position) -> bool:
        """Return whether an instruction's position lies in the region; where it has no columns, its lines do."""
        line, end_line, column, end_column = position
        if line is None or end_line is None:
            return False
        if column is None or end_column is None:
            return self.start[0] <= line and end_line <= self.end[0]
        return self.start <= (line, column) and (end_line, end_column) <= self.end


class Item(NamedTuple):
    """One item of a `with` statement."""

    node: With
    number: int
    """Which of the items, from 0."""

    @property
    def block(self) -> list[ast.stmt]:
        """What this item guards: the items after it, if any, around the body."""
        later = self.node.items[self.number + 1 :]
        if not later:
            return self.node.body
        return [ast.copy_location(type(self.node)(items=later, body=self.node.body), self.node)]

    @property
    def target(self) -> ast.expr | None:
        """The `as` target."""
        return self.node.items[self.number].optional_vars

    @property
    def region(self) -> Region:
        """The text of what the item guards."""
        later = self.node.items[self.number + 1 :]
        first: ast.expr | ast.stmt = later[0].context_expr if later else self.node.body[0]
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        return Region(node_span(decorators[0] if decorators else first)[:2], node_span(self.node)[2:])

    @property
    def alone(self) -> With:
        """The item as the only one of a statement of its own, around what it guards."""
        if len(self.node.items) == 1:
            return self.node
        return ast.copy_location(type(self.node)(items=[self.node.items[self.number]], body=self.block), self.node)


class Place(NamedTuple):
    """Where a `with` item is entered, as far as the running code tells: see `place`."""

    line: int
    span: Span | None
    code: CodeType
    enter: int
    is_async: bool

    @property
    def before(self) -> tuple[int, int] | None:
        """The end of what was evaluated just before the enter: the item's expression."""
        previous = span(bytecode.position(self.code, self.enter - 2))
        return None if previous is None else previous[2:]

    def rank(self) -> tuple[int, int]:
        """Return the place of the enter among those with the same position, and how many these are."""
        code = self.code
        where = bytecode.position(code, self.enter)
        same = [offset for offset, _, _ in bytecode.enters(code.co_code) if bytecode.position(code, offset) == where]
        return same.index(self.enter), len(same)


def place(code: CodeType, enter: bytecode.Enter) -> Place:
    """Return what `code` tells about the item that `enter` enters.

    `span` (line, column, end line, end column) is that of the item's expression on 3.13 and later, of the whole statement
    on 3.11 and early 3.12; 3.10 knows the line only.
    """
    where = bytecode.position(code, enter.offset)
    return Place(where[0] or code.co_firstlineno, span(where), code, enter.offset, enter.is_async)


def span(position: Position) -> Span | None:
    """Return a position of `co_positions` in the order of the text, or None where it is not complete."""
    line, end_line, column, end_column = position
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return line, column, end_line, end_column


def item(lines: Sequence[str], where: Place) -> Item | None:
    """Return the `with` item at `where` in the text `lines`, or None if there is none."""
    for start in _candidates(lines, where.line):
        node = statement(lines, start)
        found = node and match(node, where)
        if found:
            return found
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    return next(filter(None, (match(node, where) for node in ast.walk(tree))), None)


def on_line(source: str, line: int) -> With | None:
    """Return the `with` statement that has an item, or begins, on line `line` of the text `source`, or None."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.With, ast.AsyncWith)) and line in {
            node.lineno,
            *(entry.context_expr.lineno for entry in node.items),
        }:
            return node
    return None


def match(node: ast.AST, where: Place) -> Item | None:
    """Return the item of `node` that is entered at `where`, or None if `node` is another statement."""
    # By its exact kind: `async` on a line of its own leaves a line that looks like the other.
    if not isinstance(node, ast.AsyncWith if where.is_async else ast.With):
        return None
    if where.span is None:
        return Item(node, _by_rank(node, where)) if node.lineno == where.line else None
    for index, entry in enumerate(node.items):
        if node_span(entry.context_expr) == where.span:
            return Item(node, index)
    if node_span(node) != where.span:
        return None
    before = where.before
    for index, entry in enumerate(node.items):
        if node_span(entry.context_expr)[2:] == before:
            return Item(node, index)
    return Item(node, _by_rank(node, where))


def _by_rank(node: With, where: Place) -> int:
    """Return the index of the item by the order of the enters.

    A `finally` body is compiled more than once, so a statement can have several times as many enters as items. Where it
    has fewer, the frame runs a traced body that begins with the last items of a statement.
    """
    items = len(node.items)
    rank, count = where.rank() if items > 1 else (0, 1)
    missing = items - count if count < items else 0
    return (missing + rank) % items


def node_span(node: ast.expr | ast.stmt) -> Span:
    """Return where `node` is in the text: line, column, end line, end column."""
    end_line, end_column = node.end_lineno, node.end_col_offset
    return node.lineno, node.col_offset, end_line or node.lineno, end_column or node.col_offset


def _candidates(lines: Sequence[str], line: int) -> Iterator[int]:
    """Yield the lines (1-based), from `line` upwards, at which a `with` statement may begin."""
    for number in range(min(line, len(lines)), 0, -1):
        if _STATEMENT.match(lines[number - 1]):
            yield number


def statement(lines: Sequence[str], start: int) -> With | None:
    """Return the `with` statement that begins on line `start`, or None if that line begins none."""
    for end in _ends(lines, start):
        try:
            node = _parse(lines, start, end)
        except (SyntaxError, ValueError):
            continue
        return node if isinstance(node, (ast.With, ast.AsyncWith)) else None
    return None


def _ends(lines: Sequence[str], start: int) -> Iterator[int]:
    """Yield the lines after which the statement of line `start` may end: before each code line indented no deeper."""
    first = lines[start - 1]
    indent = len(first) - len(first.lstrip(" \t\f"))
    for number in range(start, len(lines)):
        text = lines[number]
        stripped = text.lstrip(" \t\f")
        if len(text) - len(stripped) <= indent and stripped.strip() and not stripped.startswith("#"):
            yield number
    yield len(lines)


def _parse(lines: Sequence[str], start: int, end: int) -> ast.stmt | None:
    """Return the only statement of lines `start` to `end`, in its place in the file."""
    text = "".join(lines[start - 1 : end])
    if text[0] in " \t\f":
        outer = ast.parse("\n" * (start - 2) + "if 1:\n" + text).body[0]
        body = outer.body if isinstance(outer, ast.If) else []
    else:
        body = ast.parse("\n" * (start - 1) + text).body
    return body[0] if len(body) == 1 else None

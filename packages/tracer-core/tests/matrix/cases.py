"""Every first statement of a block, with every target, header and scope that it can have."""

import sys
import textwrap
import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from .observation import Observed, Unit, unit
from .scopes import SCOPES
from .statements import STATEMENTS

TARGETS = {
    "none": "",
    "name": " as t",
    "attribute": " as box.content",
    "item": " as table['a' if log('key') else 'b']",
    "pair": " as (t, u)",
    "starred": " as [t, *u]",
    "failing": " as missing.attribute",
}


class Header(NamedTuple):
    """How the `with` is written; `alone` is it without what comes after the first traced manager, and is deferred too."""

    text: str
    alone: str | None = None


_ONE_LINE = "one-line"
_ASYNC = "async"
HEADERS = {
    "block": Header("with manager()<as>:"),
    _ONE_LINE: Header("with manager()<as>:"),
    "parentheses": Header("with (\n    manager()<as>\n):"),
    "continued": Header("with manager(\n    *()\n) \\\n    <as>:"),
    "second": Header("with other('first'), manager()<as>:"),
    "swallowed": Header("with swallow('first'), manager()<as>:"),
    "first": Header("with manager()<as>, other('last') as last:", "with manager()<as>:"),
    "between": Header(
        "with (\n    other('first'),\n    manager()<as>,\n    other('last')\n):",
        "with (\n    other('first'),\n    manager()<as>\n):",
    ),
    "twice": Header("with manager()<as>, manager():", "with manager()<as>:"),
    "inside": Header("with manager(), manager()<as>:", "with manager():"),
    _ASYNC: Header("async with manager()<as>:"),
}
_NAMES = "n, xs, box, table = 3, [1, 2], Box(), {}"
_END = "log('after')\nsee(dict(locals()))"
# 3.10 code knows its name and not its qualified one.
_AROUND = {"method": "Case.", "closure": "around.<locals>."}


class Case(NamedTuple):
    """One program of the matrix, by the names of its parts."""

    statement: str
    target: str
    header: str
    scope: str

    def __str__(self) -> str:
        """The name of the case, which is also its file's."""
        return "/".join(self)

    def program(self) -> Unit:
        """Return the program."""
        return self._unit(self._block(STATEMENTS[self.statement].text))

    def as_deferred(self) -> Unit:
        """Return the program that does in place what the program does with its block deferred."""
        statement = STATEMENTS[self.statement]
        return self._unit(self._block(statement.deferred if self.scope in statement.differs_in else statement.text))

    def _block(self, body: str) -> str:
        header = HEADERS[self.header].text
        return f"{header} {body}" if self.header == _ONE_LINE and "\n" not in body else _under(header, body)

    def with_known_names(self, observed: Observed) -> Observed:
        """Return what is `observed` with the names that functions made in a deferred block have where code knows no more."""
        around = _AROUND.get(self.scope, "") if sys.version_info < (3, 11) else ""
        return Observed(*(_without(around, part) for part in observed))

    def without_block(self) -> Unit:
        """Return the program in which the block is not reached, though it binds the same names."""
        statement = STATEMENTS[self.statement].text
        header = HEADERS[self.header]
        return self._unit(_under(header.alone or header.text, _under("if never:", statement)))

    def _unit(self, block: str) -> Unit:
        block = block.replace("<as>", TARGETS[self.target])
        text = SCOPES[self.scope]
        for place, part in {"<names>": _NAMES, "<block>": block, "<end>": _END}.items():
            text = _filled(text, place, part)
        return unit(text, f"<{self}>", has_own_locals=self.scope == "executed")


def _without(prefix: str, value: Any) -> Any:
    """Return `value` with `prefix` left out of the names of what functions made."""
    if isinstance(value, str):
        return value.replace(f"{prefix}case.<locals>.", "case.<locals>.")
    if isinstance(value, dict):
        return {key: _without(prefix, part) for key, part in value.items()}
    return type(value)(_without(prefix, part) for part in value) if isinstance(value, (list, tuple)) else value


def _under(header: str, body: str) -> str:
    return f"{header}\n{textwrap.indent(body, '    ')}"


def _filled(template: str, place: str, part: str) -> str:
    """Return `template` with `part` where `place` stands, as deep as it stands there."""
    before, after = template.split(place)
    indent = before.rpartition("\n")[2]
    return before + textwrap.indent(part, indent).removeprefix(indent) + after


def _is_possible(case: Case) -> bool:
    statement = STATEMENTS[case.statement]
    return (
        case.scope in statement.scopes
        and (statement.is_simple or case.header != _ONE_LINE)
        and (case.scope == "coroutine" or case.header != _ASYNC)
        and (case.header == _ASYNC or not statement.awaits)
    )


def all_cases() -> Iterator[Case]:
    """Yield every case that this Python can compile."""
    return filter(_is_possible, map(Case._make, product(STATEMENTS, TARGETS, HEADERS, SCOPES)))


def sample(size: int) -> list[Case]:
    """Return `size` of all cases, spread evenly and the same in each run."""
    return sorted(all_cases(), key=lambda case: zlib.crc32(str(case).encode()))[:size]

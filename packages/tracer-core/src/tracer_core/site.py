"""What is known about one `with` item in one code object, prepared at its first entry and found again at each later one.

    with Tracer():      # one site, however often it is entered

A site is found by the identity of the code object and the offset of the instruction that enters the item; never by file
and line, which two cells of a notebook share, and never by the code object's own equality, which two files can share.
Finding one takes none of the modules that make one: those wait for the first block.
"""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tracer_core import skip

if TYPE_CHECKING:
    from tracer_core.recipe import Recipe

# Hidden names that the code of a block has as variables; the dot keeps them apart from anything a user can write.
FIRST = ".first"
VALUE = ".value"
SAVE = ".save"
UNPACKED = ".unpacked"

# The methods by which a `with` statement enters a manager.
ENTERS = frozenset({"__enter__", "__aenter__"})

# As in `co_positions`: line, end line, column, end column; 3.10 knows lines only.
Position: TypeAlias = "tuple[int, int | None, int | None, int | None]"


class Kind(enum.Enum):
    """Where a frame keeps its names."""

    FUNCTION = enum.auto()
    MODULE = enum.auto()
    NAMESPACE = enum.auto()


class Body(NamedTuple):
    """A compiled block."""

    code: CodeType
    kind: Kind
    writes: tuple[str, ...]
    saved_names: frozenset[str]
    takes_first: bool
    is_async: bool
    rewritten: frozenset[Position] = frozenset()
    """The positions of what is done another way than in the text."""
    dropped: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = ()
    """From where to where (line, column) there are annotations that are not evaluated."""


class Site:
    """What is known about one `with` item in one code object; not a named tuple, whose fields take three times as long to read.

    Args:
        body: The block, compiled.
        enter: The offset of the instruction that enters the item.
        way: How the block is left; None for a block with nothing in it, which runs harmlessly.
        skip_offset: The offset of the instruction before which it is left.
        binding: The store of the `as` target, where the block has to be left before it.
        recipe: The block as text; None where the body comes from the bytecode.
        first_line: The line of the block's first statement.
        own_name: The name of the `as` target, if the block reads it.
        is_nested: Whether the frame runs a block itself.
        unread: The names that the frame never reads outside of the block, and need not be written; known where writing is costly.
    """

    def __init__(
        self,
        body: Body,
        enter: int,
        way: skip.Way | None,
        skip_offset: int,
        *,
        binding: Body | None,
        recipe: Recipe | None,
        first_line: int,
        own_name: str | None,
        is_nested: bool,
        unread: frozenset[str],
    ) -> None:
        self.body, self.enter = body, enter
        self.way, self.skip_offset = way, skip_offset
        self.binding, self.recipe = binding, recipe
        self.first_line, self.own_name = first_line, own_name
        self.is_nested, self.unread = is_nested, unread
        # A function without parameters that is not awaited, on names that the frame shows.
        self.is_plain = not (body.takes_first or body.is_async or body.kind is Kind.NAMESPACE)
        self.names = body.code.co_freevars


class Sites(dict["tuple[int, int]", Site]):
    """Sites by the id of the code object and the offset of the enter; an entry goes with its code object."""

    def __init__(self) -> None:
        super().__init__()
        self._keepers: dict[int, weakref.ref[CodeType]] = {}

    def add(self, code: CodeType, site: Site) -> None:
        """Keep `site` as long as `code` lives."""
        key = id(code)
        self[key, site.enter] = site
        if key not in self._keepers:
            # Bound as a default: the callback may come when this module's globals are gone.
            def drop(
                _: object, key: int = key, sites: Sites = self, forget: Callable[[int], None] = skip.forget
            ) -> None:
                del sites._keepers[key]
                forget(key)
                for entry in [entry for entry in list(sites) if entry[0] == key]:
                    sites.pop(entry, None)

            self._keepers[key] = weakref.ref(code, drop)


# The sites of all tracers that capture the usual way; a class that overrides a step has its own.
SITES = Sites()

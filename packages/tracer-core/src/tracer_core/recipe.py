"""A block as text: what it takes to run the block again, here with other values or in another process.

    tracer.block(x=3)

compiles the text of the `with` statement anew, as a function of the names the block reads, and runs it on cells of its
own.  So neither the caller's names nor those of the first run change, any thread may call, and any Python version can do
it that has the text: a recipe is plain data and pickles.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from types import CodeType, CoroutineType, FunctionType
from typing import Any, NamedTuple

from tracer_core import bytecode, locate, saving, scope
from tracer_core import compile as compiling
from tracer_core.needs import needed
from tracer_core.site import FIRST, Body, Kind
from tracer_core.versions import V311


class Recipe(NamedTuple):
    """The text of a `with` statement, which of its items is meant, and what its place in the code says about it."""

    text: str
    filename: str
    first_line: int
    item: int
    qualname: str
    private: str | None
    flags: int
    is_async: bool
    writes: tuple[str, ...]
    spellings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, code: CodeType, item: locate.Item, lines: list[str], body: Body, spellings: tuple[str, ...] = ()
    ) -> Recipe:
        """Return the recipe of the block that `item` guards in `code`."""
        node = item.node
        qualname = bytecode.qualified_name(code)
        private = compiling.private_class(code)
        if body.kind is Kind.NAMESPACE and qualname != "<module>":
            private = qualname.rpartition(".")[2]
            qualname = f"{qualname}.<class body>"
        elif private and not V311:
            qualname = f"{private}.{qualname}"  # 3.10 knows no more of it, and newer versions find the class there
        return cls(
            "".join(lines[node.lineno - 1 : node.end_lineno]),
            code.co_filename,
            node.lineno,
            item.number,
            qualname,
            private,
            code.co_flags & compiling._FUTURE,
            body.is_async,
            body.writes,
            spellings,
        )

    @property
    def where(self) -> str:
        """Return `file:line` of the statement."""
        return f"{self.filename}:{self.first_line}"

    def node(self) -> locate.With:
        """Return the statement with its one item, in its place in the file."""
        lines = ["\n"] * (self.first_line - 1) + self.text.splitlines(keepends=True)
        node = locate.statement(lines, self.first_line)
        assert node is not None
        return locate.Item(node, self.item).alone

    def needs(self) -> tuple[str, ...]:
        """Return the names that the block may read before it binds them; see `needs`."""
        return _needs(self)

    def check(self, names: Collection[str], reads: tuple[str, ...]) -> None:
        """Raise a `TypeError` if the block is to be run with `names` that are not among those it `reads`."""
        unknown = [name for name in names if name not in reads]
        if unknown:
            raise TypeError(
                f"The block at {self.where} was called with {', '.join(unknown)}, but it reads no such name; it reads "
                f"{', '.join(reads) or 'none'}. A name that the block binds before it reads it cannot be given a value."
            )

    def apart(self, values: Mapping[str, Any], names: dict[str, Any]) -> Apart:
        """Return a run of the block on cells of its own that hold `values`, with `names` as its globals."""
        return Apart(self.compiled(frozenset(values)), values, names)

    def compiled(self, names: frozenset[str]) -> Body:
        """Return the block as a function that has `names` and all that it binds as cells."""
        return _compiled(self, names)


@functools.lru_cache(maxsize=256)
def _needs(recipe: Recipe) -> tuple[str, ...]:
    names = needed(recipe.node().body, recipe.private)
    return (*names, FIRST, "__class__") if "super" in names else tuple(names)


@functools.lru_cache(maxsize=256)
def _compiled(recipe: Recipe, names: frozenset[str]) -> Body:
    lines = recipe.text.splitlines(keepends=True)
    around = _code_around(recipe, names.union(recipe.writes))
    node = recipe.node()
    return compiling.compile_block(
        node.body, around, Kind.FUNCTION, recipe.is_async, lines, node.lineno, recipe.spellings
    )


def _code_around(recipe: Recipe, names: frozenset[str]) -> CodeType:
    """Return a code object that stands for the function around the block: empty, with `names` as its variables."""
    free = ("__class__",) if "__class__" in names else ()
    variables = tuple(sorted(names - {"__class__"}))
    changes: dict[str, Any] = {
        "co_filename": recipe.filename,
        "co_name": recipe.qualname.rpartition(".")[2],
        "co_flags": _nothing.__code__.co_flags | recipe.flags,
        "co_varnames": variables,
        "co_nlocals": len(variables),
        "co_argcount": 1 if FIRST in names else 0,
        "co_freevars": free,
    }
    if V311:
        changes["co_qualname"] = recipe.qualname
    elif recipe.private:
        changes["co_names"] = (f"_{recipe.private}__",)
    return _nothing.__code__.replace(**changes)


def _nothing() -> None:
    """Lend its code object."""


class Apart:
    """One run of a body on cells of its own, under a save scope of its own."""

    def __init__(self, body: Body, values: Mapping[str, Any], names: dict[str, Any]) -> None:
        """Take the body, the values of the names it reads, and the globals it runs with."""
        self.body = body
        self.first = (values[FIRST],) if body.takes_first else ()
        self.cells = scope.filled(body.code.co_freevars, values)
        self.function = FunctionType(body.code, names, None, None, tuple(self.cells.values()))
        self.scope = saving.inside(None)

    def run(self) -> None:
        """Run the block, an asynchronous one in an event loop of its own, and let out what it raises."""
        token = saving.RUNNING.set(self.scope)
        try:
            complete(self.function(*self.first))
        finally:
            saving.leave(token)

    def saved(self) -> dict[str, Any]:
        """Return the names that the run has saved so far."""
        found: dict[str, Any] = {}
        for name in self.body.writes:
            try:
                value = self.cells[name].cell_contents
            except ValueError:  # not bound (yet, or any more)
                continue
            if self.scope.returns(name, value, self.body.saved_names):
                found[name] = value
        return found


def complete(answer: Any) -> None:
    """Run the coroutine that the block of an `async with` makes, in an event loop of this thread's own."""
    if isinstance(answer, CoroutineType):
        # Imported here: it takes longer than all of this package, and most blocks are not asynchronous.
        import asyncio

        asyncio.run(answer)

"""A block that travels: its text and the values of the names it reads, no frame and no bytecode.

An executor of processes pickles what it is given.  A block given to it becomes a `PortableBlock` on the way:

    portable = PortableBlock.of(tracer.block)
    pickle.loads(pickle.dumps(portable)).run(x=3).total

runs the block wherever it arrives, also under another version of Python, and gives the names it saved.  What the block
does to its surroundings (globals, files, the objects it was given) happens over there; only what it saves comes back.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracer_core.outcomes import Outcome
from tracer_core.parcels import pack, unpack
from tracer_core.recipe import Apart, Recipe
from tracer_core.results import Saved

if TYPE_CHECKING:
    from tracer_core.block import Block

# Key: file name; value: the lines of it that arrived with blocks, in their places; for the life of the process; a line
# is only ever set to what it is in that file, so threads cannot disagree.
_arrived: dict[str, list[str]] = {}


@dataclass(frozen=True)
class PortableBlock:
    """The text of a block and the values it reads, as plain data that pickles."""

    recipe: Recipe
    module: str
    reads: tuple[str, ...]
    names: bytes

    @classmethod
    def of(cls, block: Block, values: Mapping[str, Any] | None = None) -> PortableBlock:
        """Return `block` with what its names are bound to now, or with `values`.

        Raises:
            NotPortable: a value cannot be pickled; the message names it.
            SourceNotAvailable: the block was taken from bytecode, and only text travels.
        """
        recipe = block.recipe
        names = block.values() if values is None else values
        return cls(recipe, block.module, block.reads, pack(names, f"the block at {recipe.where}"))

    def run(self, /, **names: Any) -> Saved:
        """Run the block in this process, with other values for some names, and return the names it saved.

        Raises:
            TypeError: the block does not read one of `names`.
            NotPortable: a value cannot be made again in this process.
        """
        run = self._unpacked(names)
        run.run()
        return Saved(**run.saved())

    def outcome(self) -> Outcome:
        """Run the block in this process and return how it ended as a value that travels back."""
        where = f"the block at {self.recipe.where}"
        run: Apart | None = None

        def unpack_and_run() -> None:
            nonlocal run
            run = self._unpacked({})
            run.run()

        return Outcome.of_run(unpack_and_run, lambda: run.saved() if run else {}, where)

    def _unpacked(self, names: Mapping[str, Any]) -> Apart:
        self.recipe.check(names, self.reads)
        values = {**unpack(self.names, f"the block at {self.recipe.where}"), **names}
        _show(self.recipe)
        return Apart(self.recipe.compiled(frozenset(values)), values, {**values, "__name__": self.module})

    def __repr__(self) -> str:
        """Say where the block is written, what it takes along and how much that is."""
        taken = ", ".join(self.reads) or "nothing"
        return f"<PortableBlock {self.recipe.where}, takes {taken}, {len(self.names):,} bytes>"


def _show(recipe: Recipe) -> None:
    """Let `linecache` have the text if this machine lacks the file: for tracebacks, and for traces inside the block."""
    if recipe.filename not in _arrived and linecache.getlines(recipe.filename):
        return
    lines = _arrived.setdefault(recipe.filename, [])
    text = recipe.text.splitlines(keepends=True)
    start = recipe.first_line - 1
    lines.extend(["\n"] * (start + len(text) - len(lines)))
    lines[start : start + len(text)] = text
    linecache.cache[recipe.filename] = (sum(map(len, lines)), None, lines, recipe.filename)

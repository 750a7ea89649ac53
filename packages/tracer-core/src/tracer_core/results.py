"""What a deferred block hands back: the names it saved, as attributes.

The user writes `tracer.result()` or `tracer.block(x=3)` and reads `.total` from what it returns.
Only names that were saved are there, the same ones that an outermost trace gives back.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any


class Saved(SimpleNamespace):
    """The saved names of one run of a block, each an attribute.

    Iterating gives pairs of name and value, so `dict(saved)` works whatever the names are.
    """

    def asdict(self) -> dict[str, Any]:  # Any: a block saves values of every type
        """Return a new dict of the saved names and their values, in the order in which the block binds them."""
        return dict(vars(self))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Iterate over pairs of name and value."""
        return iter(vars(self).items())

    def __len__(self) -> int:
        """Return how many names were saved."""
        return len(vars(self))

    def __contains__(self, name: object) -> bool:
        """Tell whether `name` was saved."""
        return name in vars(self)

    def __getattr__(self, name: str) -> Any:
        """Say which names there are; reached only for a name that was not saved.

        Raises:
            AttributeError: always.
        """
        found = "it saved " + ", ".join(vars(self)) if vars(self) else "it saved nothing"
        raise AttributeError(
            f"this run of the block saved no {name!r}; {found}. Save it in the block: {name} = save(...)",
            name=name,
            obj=self,
        )

"""What a run of `interp` comes back as."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias


class Ran(NamedTuple):
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def facts(self) -> Any:
        """The one JSON document on the standard output."""
        return json.loads(self.out)


Interp: TypeAlias = Callable[..., Ran]

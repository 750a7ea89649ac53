"""What still lay ahead when a place was asked for too late: the end of an order error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

if TYPE_CHECKING:
    from interp_components.interleaving.runs import Run

_LISTED = 4


def ahead(run: Run, served: str) -> list[str]:
    """The first outputs that come after the place `served`, in the order of the module tree.

    The order of the tree is that of most forwards, not of all: it is shown to a person, and nothing is decided by it.
    """
    root = run.root.output
    prefix = root.path.removesuffix(".output")
    called = [name for name, module in root.module.named_modules() if type(module).forward is not nn.Module.forward]
    paths = [f"{prefix}.{name}" for name in called if name]
    place = served
    while place and place not in paths:
        place = place.rpartition(".")[0]
    if not place:
        return []
    rest = [path for path in paths[paths.index(place) + 1 :] if not path.startswith(f"{place}.")]
    return [f"{path}.output" for path in rest[:_LISTED]] + ["..."] * (len(rest) > _LISTED)

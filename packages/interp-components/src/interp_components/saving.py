"""`hidden = model.layers[0].output.save()`: what leaves the outermost trace, for tensors.

The rules are tracer-core's. A block understands `x.save()` for a value of any type by itself; the method on tensors is
for helper functions outside a block, and is the one thing that this package adds to torch.
"""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

import tracer_core

T = TypeVar("T")


def save(value: T, copy: bool = False, device: torch.device | str | None = None) -> T:
    """Mark `value` to be handed back by the outermost trace, and return it.

    The object itself is marked, so an edit that the block makes in place afterwards shows in it.

    Args:
        value: What to hand back: a tensor, or anything else.
        copy: Mark and return a copy instead; of a tensor, one that is detached and that no later edit reaches.
        device: Where the copy of a tensor is put, which implies `copy`; where the tensor is when None.

    Raises:
        SaveOutsideTrace: No trace is running.
        TypeError: A device for what is no tensor.
    """
    if device is None and not (copy and isinstance(value, Tensor)):
        return tracer_core.save(value, copy)
    if not isinstance(value, Tensor):
        raise TypeError(f"save({value!r}, device={device!r}): only a tensor is on a device; leave device= out")
    copied: Any = value.detach().to(device=device or value.device, copy=True)  # Any: a Tensor is what T is here
    return tracer_core.save(copied)  # type: ignore[no-any-return]  # see above


Tensor.save = save  # type: ignore[attr-defined]  # torch's class has no such name of its own

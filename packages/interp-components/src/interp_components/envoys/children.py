"""The child modules of a module, by name, of whichever kind it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn


def children_of(module: nn.Module) -> Mapping[str, nn.Module | None]:
    """The children by name; None stands for one that was registered as nothing.

    Source: the `_modules` of a `torch.jit.ScriptModule` is `OrderedModuleDict`, torch 2.13, which is no mapping: it has
    `items` and neither `get` nor an iterator.
    """
    children: Any = module._modules  # Any: a dict to the type checker, always
    return children if isinstance(children, dict) else dict(children.items())

"""`model.output.past_key_values` in an invoke: of transformers' caches, too, a block sees its own rows.

A cache is an object that the model writes into, layer by layer. A block is served a copy of it around views of its rows:
what it edits in place reaches the model, and what the model appends later does not reach what was read. Where a block
assigns one, the model goes on with the object that it has, which takes over the block's rows.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch import Tensor

_HOME = "transformers.cache_utils"
"""Where caches and their layers are defined; nothing is imported from it, since not every model is a transformer."""


def is_cache(value: Any) -> bool:
    """Whether `value` is one of transformers' caches, or a layer of one."""
    return any(base.__module__ == _HOME for base in type(value).__mro__)


def narrowed(cache: Any, narrow: Callable[[Tensor], Tensor]) -> Any:
    """A copy of the cache around what `narrow` makes of its tensors."""
    own = copy.copy(cache)
    vars(own).update({name: _narrowed(value, narrow) for name, value in vars(cache).items()})
    return own


def _narrowed(value: Any, narrow: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return narrow(value)
    if isinstance(value, list):
        return [_narrowed(one, narrow) for one in value]
    return narrowed(value, narrow) if is_cache(value) else value


def write(whole: Any, part: Any, widen: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Let the cache `whole` have the rows of `part`, as `widen` puts a tensor of both together."""
    for name, value in vars(whole).items():
        other = vars(part).get(name)
        if isinstance(value, Tensor) and isinstance(other, Tensor):
            vars(whole)[name] = widen(value, other)
        elif isinstance(value, list) and isinstance(other, list):
            for one, its in zip(value, other, strict=False):  # layers that the model has added since are its own
                if is_cache(one) and is_cache(its):
                    write(one, its, widen)
        elif is_cache(value) and is_cache(other):
            write(value, other, widen)

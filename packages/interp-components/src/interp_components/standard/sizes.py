"""Sizes, from `model.num_heads` and `attn.num_heads`.

A model's size is read off its config, or computed by the family's function of that name. A module's size is an attribute
under one of its known names, else the width of a projection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from torch import nn

if TYPE_CHECKING:
    from interp_components.standard.base import Standard


class Size:
    """A size of the whole model; a function of this name in the model's family decides, else the decorated one.

    Args:
        compute: `f(model) -> int`.
    """

    def __init__(self, compute: Callable[[Any], int]) -> None:
        self._compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    # Any: a size has no typed owner.
    @overload
    def __get__(self, obj: None, owner: type | None = None) -> Size: ...
    @overload
    def __get__(self, obj: Any, owner: type | None = None) -> int: ...
    def __get__(self, obj: Any, owner: type | None = None) -> Size | int:
        """Return the size; the descriptor itself on a class.

        Raises:
            NotImplementedError: The config does not have it under the usual name, and the family says nothing.
        """
        if obj is None:
            return self
        try:
            return int(getattr(obj.family, self.name, self._compute)(obj))
        except AttributeError as error:  # left alone, an envoy would take it for "no such attribute" of its own
            raise NotImplementedError(
                f"{self.name} of {type(obj._module).__name__} cannot be read off its config: {error}; "
                f"the family has to define `def {self.name}(model)`"
            ) from error

    def __set__(self, obj: Any, value: Any) -> None:
        """Refuse: a size follows from the weights."""
        raise AttributeError(
            f"{self.name} is read off the config and cannot be assigned; where a config says it otherwise, the family "
            f"defines `def {self.name}(model)`"
        )


def module_int(module: nn.Module, *names: str) -> int | None:
    """Return the first attribute among `names` that is an int, or None."""
    for name in names:
        value = getattr(module, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def in_width(envoy: Standard, size: str, *projections: str) -> int:
    """Return the input width of the first projection among the names.

    Raises:
        NotImplementedError: The module has none of them.
    """
    for name in projections:
        width = width_in(getattr(envoy._module, name, None))
        if width is not None:
            return width
    raise unsized(envoy, size, projections)


def width_in(projection: nn.Module | None) -> int | None:
    """Return the input width of a projection: a Linear (also wrapped by an adapter) or GPT-2's Conv1D."""
    return None if projection is None else module_int(projection, "in_features", "nx")


def require(envoy: Standard, size: str, value: int | None) -> int:
    """Return the value, or raise NotImplementedError when there is none."""
    if value is None:
        raise unsized(envoy, size, ())
    return value


def unsized(envoy: Standard, size: str, looked_at: tuple[str, ...]) -> NotImplementedError:
    """Return the error that says that a module holds no such size under the known names."""
    where = f" or the input width of {', '.join(looked_at)}" if looked_at else ""
    return NotImplementedError(
        f"{envoy.path} ({type(envoy._module).__name__}) holds no {size} under a known attribute{where}; "
        f"the family's subclass of {type(envoy).__name__} has to define the property `{size}`"
    )

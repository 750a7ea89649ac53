"""A value computed from other values, from `pattern_entropy = DerivedEProperty(entropy)`.

It has no place of its own in the forward: a read calls `compute(envoy)`, which reads what it needs in forward order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from torch import Tensor

from interp_components.properties import availability
from interp_components.properties.eproperty import EProperty, Self, V

if TYPE_CHECKING:
    from interp_components.served import ServedTensor


class DerivedEProperty(EProperty[V]):
    """A read-only value.

    Args:
        compute: `f(envoy)`; its return annotation is the layout.
        description: The line that the value has in an envoy's repr.
        unavailable: The reason why the value is not there, or a predicate `f(envoy) -> str | None`.
        instead: The value to assign in its place, for the message of a refused assignment.
    """

    def __init__(
        self,
        compute: Callable[[Any], V],
        description: str | None = None,
        unavailable: availability.Availability = None,
        instead: str | None = None,
    ) -> None:
        super().__init__(description=description, unavailable=unavailable)
        self._instead = instead
        self._preprocess = compute

    def inside_forward(self) -> bool:
        """Return False: what is computed has no key that could move; the values it reads have theirs."""
        return False

    @overload
    def __get__(self: Self, obj: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self: EProperty[Tensor], obj: Any, owner: type | None = None) -> ServedTensor: ...
    @overload
    def __get__(self, obj: Any, owner: type | None = None) -> V: ...
    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        """Return what `compute` makes of the envoy; the descriptor itself on a class."""
        if obj is None:
            return self
        availability.require(self.unavailable, obj, self.name)
        assert self._preprocess is not None
        return self._preprocess(obj)

    def __set__(self, obj: Any, value: Any) -> None:
        """Refuse: there is no place to write to."""
        way_out = f"; assign {self._instead}, which it follows from" if self._instead else ""
        raise AttributeError(f"{self.name} is derived and read-only{way_out}")

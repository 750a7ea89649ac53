"""Named values on an envoy: descriptors whose key is a path to a place in the running forward."""

from interp_components.errors import Unavailable
from interp_components.properties.availability import Availability
from interp_components.properties.copies import CopyEProperty
from interp_components.properties.derived import DerivedEProperty
from interp_components.properties.eproperty import EProperty, unavailable
from interp_components.properties.selection import FIRST, SelectionError
from interp_components.properties.writeback import WriteBack

__all__ = [
    "FIRST",
    "Availability",
    "CopyEProperty",
    "DerivedEProperty",
    "EProperty",
    "SelectionError",
    "Unavailable",
    "WriteBack",
    "unavailable",
]

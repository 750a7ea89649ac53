"""The mirror of the module tree: `model.transformer.h[0].attn`."""

from interp_components.envoys.aliases import Rename
from interp_components.envoys.branch import reserved_names
from interp_components.envoys.classes import ClassMap, EnvoyMap
from interp_components.envoys.envoy import Envoy
from interp_components.envoys.listing import values_of

__all__ = ["ClassMap", "Envoy", "EnvoyMap", "Rename", "reserved_names", "values_of"]

"""The operations inside a forward: labels, guards, drilling.

`attn.source.split_0.output` comes here as `ModuleSource(attn, module)`, an `Operation` of it, and the places of that.
"""

from interp_components.sources.operation import Firing, Operation
from interp_components.sources.source import DrilledSource, ModuleSource, Source

__all__ = ["DrilledSource", "Firing", "ModuleSource", "Operation", "Source"]

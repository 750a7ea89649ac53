"""From a parsed key to the place that the model reports at, for `source.attention_interface_1.inputs` on an attention.

The walk goes over nodes: an envoy, the source of a forward, an operation in it. It knows nothing else of them. Stepping
to the `source` of an operation drills into the call, which asks the running model; all other steps ask it nothing.
"""

from __future__ import annotations

import warnings
from typing import Any

from interp_components.errors import MovedOperationWarning, SourceNotAvailable
from interp_components.interleaving import Location, Node, OperationNode
from interp_components.keys import Key, KeyPathError


def resolve(host: Node, key: Key, name: str) -> Location:
    """Return the location that `key` names, walked from `host`, for the value `name`.

    Raises:
        SourceNotAvailable: A child or an operation on the way is not there in this run.
        KeyPathError: The key climbs higher than the tree is.
    """
    # Any: behind a segment `source` stands a SourceNode, elsewhere any other node.
    node: Any = host.root if key.anchored else host
    if key.ups:
        node = _above(host, key, name)
    try:
        for segment, is_call in key.steps:
            if is_call is None:
                node = node.get(segment)
            else:
                node = node.playing(segment, is_call)
                if node.name != segment:
                    _warn_of_moved(f"{type(host).__name__}.{name}", segment, node)
    except AttributeError as error:
        raise SourceNotAvailable(
            f"{host.path}.{name} reads {key.text!r}, which this run does not have: {error}. The forward of this model, "
            "or of this release of transformers, is not the one that the key was written for; print the `source` of the "
            "module to see its operations, and describe the value with another key or mark it `unavailable(...)`"
        ) from error
    location: Location = node.location(key.end)
    return location


def _warn_of_moved(value: str, label: str, found: OperationNode) -> None:
    # The text names the class and not the module, so that it is shown once for all of them.
    warnings.warn(
        f"{value} reads the operation {label!r}, which has moved in this forward; {found.name!r} at line {found.line} "
        "plays its part and is read in its place. `model.check()` says whether the values fit one another",
        MovedOperationWarning,
        stacklevel=3,
    )


def _above(host: Node, key: Key, name: str) -> Node:
    node = host
    for _ in range(key.ups):
        if node.parent is None:
            raise KeyPathError(f"{host.path}.{name} reads {key.text!r}, which climbs above the model's root")
        node = node.parent
    return node

"""From a parsed key to the place that the model reports at, for `source.attention_interface_1.inputs` on an attention.

The walk goes over nodes: an envoy, the source of a forward, an operation in it. It knows nothing else of them. Stepping
to the `source` of an operation drills into the call, which asks the running model; all other steps ask it nothing.
"""

from __future__ import annotations

from interp_components.errors import SourceNotAvailable
from interp_components.interleaving import Location, Node
from interp_components.keys import Key, KeyPathError


def resolve(host: Node, key: Key, name: str) -> Location:
    """Return the location that `key` names, walked from `host`, for the value `name`.

    Raises:
        SourceNotAvailable: A child or an operation on the way is not there in this run.
        KeyPathError: The key climbs higher than the tree is.
    """
    node = host.root if key.anchored else host
    if key.ups:
        node = _above(host, key, name)
    try:
        for segment in key.segments:
            node = node.get(segment)
    except AttributeError as error:
        raise SourceNotAvailable(
            f"{host.path}.{name} reads {key.text!r}, which this run does not have: {error}. The forward of this model, "
            "or of this release of transformers, is not the one that the key was written for; print the `source` of the "
            "module to see its operations, and describe the value with another key or mark it `unavailable(...)`"
        ) from error
    return node.location(key.end)


def _above(host: Node, key: Key, name: str) -> Node:
    node = host
    for _ in range(key.ups):
        if node.parent is None:
            raise KeyPathError(f"{host.path}.{name} reads {key.text!r}, which climbs above the model's root")
        node = node.parent
    return node

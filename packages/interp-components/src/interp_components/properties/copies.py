"""Values that are served as copies, from `mlp.mlp_output` where the block adds into that very tensor.

Some tensors are not the value's own: the model changes them later, or hands them to other modules as well. A saved value
would then change, and an edit in place would reach further than the value. So the block is given a copy, and what it
makes of the copy goes back to this one place. What goes back, or is assigned, is a copy too: it stays the user's, and the
model may do with its own what it likes.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from interp_components.properties.eproperty import EProperty, Stub, V


class CopyEProperty(EProperty[V]):
    """A value that is copied for the block and carried back as the block moves on."""

    # Any: the host is whatever component carries the value.
    _transform: Stub | None = staticmethod(lambda obj, view, raw: view.clone())
    _postprocess: Stub | None = staticmethod(lambda obj, value: value.clone())

    def _viewed(self, obj: Any, raw: Any) -> Any:
        value: Tensor = super()._viewed(obj, raw)
        return value.clone()

"""`layer.output = torch.zeros(1, 2, 3)`: an assignment that the model may not be able to go on with.

A value of another shape can be meant (fewer positions, say), so it is not refused. When the model fails afterwards, its
error is noted with the assignments that had another type or shape than what the model had there.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from interp_components.interleaving.requests import Request


def note(request: Request, served: Any, assigned: Any) -> str | None:
    """What differs in type or shape between what was served and what was assigned, or None when nothing does."""
    if isinstance(served, Tensor) and isinstance(assigned, Tensor) and served.shape == assigned.shape:
        return None
    had, got = _described(served), _described(assigned)
    if had == got:
        return None
    return (
        f"{request.location} was assigned {got} where the model had {had}, at {request.filename}:{request.line}. "
        f"If that is what the model failed on, assign what has the same type and shape, or edit a part of it in place."
    )


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if type(value) in {tuple, list}:
        return f"a {type(value).__name__} of ({', '.join(map(_described, value))})"
    return f"a {type(value).__name__}"

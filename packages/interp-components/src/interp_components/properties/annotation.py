"""The layout of a value, from the `-> Pattern` of its stub.

The annotation is resolved to the alias object itself, so that `Attention.attention_keys.layout is Keys` holds in every
family, whether or not a module postpones its annotations. Only the return annotation is looked at: a stub may annotate
its arguments with names that exist for type checkers alone.

A class written inside a function may name a layout that only this function knows. Postponed annotations lose that name
(they are text, and text keeps no scope), so it is looked up while the class statement runs, in the scope that runs it.
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable
from types import FrameType
from typing import Any

# Any throughout: a layout is a class at run time and an annotated Tensor to a type checker.


def hint_in_frame(stub: Callable[..., Any], frame: FrameType) -> Any:
    """Return the return annotation if it is text that needs this frame's locals, else None."""
    if not isinstance(_return_annotation(stub), str):
        return None
    try:
        return return_hint(stub, dict(frame.f_locals))
    except NameError:
        return None  # a name that is defined later, and is found in the globals when somebody asks


def return_hint(stub: Callable[..., Any], scope: dict[str, Any] | None = None) -> Any:
    """Return the return annotation as an object, unions included, or None when the stub has none."""

    def only_return() -> None: ...

    annotation = _return_annotation(stub)
    if annotation is None:
        return None
    only_return.__annotations__ = {"return": annotation}
    return typing.get_type_hints(only_return, getattr(stub, "__globals__", {}), scope)["return"]


def without_none(hint: Any) -> Any:
    """Return the member of an optional that is not None, else the hint itself."""
    if not is_optional(hint):
        return hint
    return next(member for member in typing.get_args(hint) if member is not types.NoneType)


def is_optional(hint: Any) -> bool:
    """Return whether the hint is a union with None in it."""
    return typing.get_origin(hint) in (typing.Union, types.UnionType) and types.NoneType in typing.get_args(hint)


def _return_annotation(stub: Callable[..., Any]) -> Any:
    if sys.version_info >= (3, 14):
        # From 3.14 on annotations are computed when asked for, and one unknown name among the arguments would fail all.
        import annotationlib

        return annotationlib.get_annotations(stub, format=annotationlib.Format.FORWARDREF).get("return")
    return getattr(stub, "__annotations__", {}).get("return")

"""The key grammar, from `@EProperty("source.attention_interface_1.inputs", select=4)`.

A key is a path that ends in `output`, `input` or `inputs`. It is walked from the module that carries the value, from the
model's root after a leading `/`, or from a module above after `../`. Between the two ends stand children (aliases count),
`source` (the forward of what the path has reached) and the operations of a forward.

This module knows text only. `parse` turns a key into a value that says where to start, what to step through and which
end to take; `properties.resolve` walks it. Parsing is remembered per text, since a key is read on every access.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from interp_components.errors import InterpError

UP: Final = "../"
ROOT: Final = "/"
SOURCE: Final = "source"
ENDS: Final = ("output", "input", "inputs")


class KeyPathError(InterpError, ValueError):
    """A key that cannot name a place in a model, whatever the model is."""


@dataclass(frozen=True)
class Key:
    """One parsed key: where the walk starts, the names it steps through, and the end it takes."""

    text: str
    anchored: bool
    """Whether the walk starts at the model's root."""
    ups: int
    """How many modules above the host the walk starts; 0 for the host itself."""
    steps: tuple[tuple[str, bool | None], ...]
    """The children, `source`s and operations between the start and the end; of an operation whether it has to be a call,
    None of what is no operation."""
    attribute: str
    """`output`, `input` or `inputs`."""

    end: Literal["input", "output"]
    """The place that the attribute is served at: a call's pair of arguments and its first one are one place."""
    is_own: bool
    """Whether the place is one of the host's own."""


@lru_cache(maxsize=4096)
def parse(text: str, selects: bool = False) -> Key:
    """Return the parsed key.

    Args:
        text: The key.
        selects: Whether an element is taken of what the end serves, so that an operation there is a call.

    Raises:
        KeyPathError: The text has no end, has an empty or malformed segment, climbs above the root, or asks for an
            operation inside an operation of a module above.
    """
    anchored = text.startswith(ROOT)
    rest, ups = _climb(text[len(ROOT) :] if anchored else text)
    if anchored and ups:
        raise KeyPathError(
            f"key {text!r} climbs above the model's root, where nothing is; drop the '../' or the leading '/'"
        )
    *segments, attribute = rest.split(".")
    _check_segments(text, segments, attribute)
    if ups and segments.count(SOURCE) > 1:
        raise KeyPathError(
            f"key {text!r} looks inside an operation of a module above its host, and a path above the host reaches only "
            "the operations of that module's own forward; start the key at the root ('/...') or describe the value there"
        )
    end: Literal["input", "output"] = "output" if attribute == "output" else "input"
    steps = _steps(segments, selects or attribute == "inputs")
    return Key(text, anchored, ups, steps, attribute, end, is_own=not (anchored or ups or segments))


def _steps(segments: list[str], ends_in_call: bool) -> tuple[tuple[str, bool | None], ...]:
    steps: list[tuple[str, bool | None]] = []
    for before, segment, after in zip(["", *segments], segments, [*segments[1:], ""], strict=False):
        is_call = after == SOURCE or (not after and ends_in_call)
        steps.append((segment, is_call if before == SOURCE else None))
    return tuple(steps)


def _climb(rest: str) -> tuple[str, int]:
    ups = 0
    while rest.startswith(UP):
        rest, ups = rest[len(UP) :], ups + 1
    return rest, ups


def _check_segments(text: str, segments: list[str], attribute: str) -> None:
    if attribute not in ENDS:
        raise KeyPathError(f"key {text!r} ends in {attribute!r}; a key ends in {', '.join(ENDS[:-1])} or {ENDS[-1]}")
    if any("/" in segment for segment in segments):
        raise KeyPathError(f"key {text!r} has a '/' after its start; '/' and '../' are allowed only in front")
    if "" in segments:
        raise KeyPathError(f"key {text!r} has an empty segment; segments are names with one dot between them")

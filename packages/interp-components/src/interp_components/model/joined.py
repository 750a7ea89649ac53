"""What was found block by block, as one line for all blocks, for `model.check()`."""

from __future__ import annotations

from typing import TypeAlias

from interp_components.display import Finding, Outcome, spans

Place: TypeAlias = tuple[int | None, str]
"""A block by its number, None for the root, and what was looked at there."""


class Joined:
    """Findings that are drawn together over the blocks as they come."""

    def __init__(self) -> None:
        self._found: dict[str, dict[tuple[Outcome, str], list[int]]] = {}

    def add(self, place: Place, outcome: Outcome, says: str) -> None:
        """Add what was found at one block, or at the root."""
        block, what = place
        blocks = self._found.setdefault(what if block is None else f"layers.{what}", {}).setdefault((outcome, says), [])
        if block is not None:
            blocks.append(block)

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each value or identity and outcome; blocks are named where they differ."""
        return tuple(
            Finding(what, outcome, _says(found, outcome))
            for what, found in self._found.items()
            for outcome in dict.fromkeys(outcome for outcome, _ in found)
        )


def _says(found: dict[tuple[Outcome, str], list[int]], outcome: Outcome) -> str:
    if len(found) == 1:
        return next(says for _, says in found)
    return "; ".join(f"{spans(blocks)}: {says}" for (each, says), blocks in found.items() if each == outcome)

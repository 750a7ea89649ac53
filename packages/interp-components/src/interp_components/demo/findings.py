"""What the demo found, for those who show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from interp_components.demo.experiments import Guess, Head, Lens, Picture, Repetition, Scores


class Removal(NamedTuple):
    """What was taken out, and how well a repetition was continued then."""

    what: str
    heads: Sequence[Head]
    left: Repetition


@dataclass(frozen=True)
class Findings:
    """All of it."""

    model: str
    prompt: str
    guesses: list[Guess]
    lens: Lens
    scores: Scores
    pictures: list[Picture]
    removals: list[Removal]

"""The findings of the demo as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from interp_components.demo.experiments import Guess, Head, Lens, Picture, Scores
from interp_components.demo.findings import Removal
from interp_components.model import StandardizedTransformer

BAR = 30


def opening(model: StandardizedTransformer) -> str:
    """What kind of model it is."""
    size = sum(weight.numel() for weight in model._module.parameters()) / 1e6
    return f"{size:.0f} M parameters, {model.num_layers} layers of {model.num_heads} heads, {model.vocab_size} tokens"


def guesses(prompt: str, found: Sequence[Guess]) -> str:
    """The likeliest next tokens, with bars."""
    return "\n".join([
        f"\n1. What comes next?   {prompt!r}",
        *(f"   {guess.text!r:>14} {guess.probability:6.1%} {_bar(guess.probability)}" for guess in found),
    ])  # fmt: skip


def lens(found: Lens) -> str:
    """The best guess after each layer, and where the answer stands by then."""
    lines = [
        f"\n2. When does it know?   after each layer: the best guess for the next token, and the rank of {found.answer!r}"
    ]
    for number, (row, rank) in enumerate(zip(found.layers, found.ranks, strict=True)):
        guess = row[-1]
        lines.append(f"   layer {number:>2}  {guess.text!r:>16} {guess.probability:6.1%}   rank {rank + 1}")
    return "\n".join(lines)


def heads(scores: Scores, induction: Sequence[Head], previous: Sequence[Head]) -> str:
    """Which heads stand out on a repetition of random tokens."""
    return "\n".join([
        "\n3. Who notices a repetition?   random tokens that come twice; the share of attention that goes",
        f"   to what followed this token the first time: {_scored(induction, scores.induction)}",
        f"   to the token just before:                   {_scored(previous, scores.previous)}",
    ])  # fmt: skip


def attention(picture: Picture) -> str:
    """What each token of the second round attends to most."""
    lines = [f"\n   {picture.head} in {''.join(picture.tokens)!r}, from its last tokens:"]
    for place in range(max(1, len(picture.tokens) - 6), len(picture.tokens)):
        share, target = picture.pattern[place].max(-1)
        where = int(target)
        seen = f"{picture.tokens[where]!r} at {where}"
        lines.append(f"   {place:>3} {picture.tokens[place]!r:>12} -> {seen:<18} {share.item():4.0%}")
    return "\n".join(lines)


def removals(found: Sequence[Removal]) -> str:
    """How well the repetition is continued without some heads."""
    lines = ["\n4. What are they for?   the second round of the random tokens is predicted"]
    for removal in found:
        names = f" ({', '.join(map(str, removal.heads))})" if removal.heads else ""
        lines.append(
            f"   {removal.what + names:<60} {removal.left.accuracy:4.0%} right, loss {removal.left.loss:5.2f} "
            f"{_bar(removal.left.accuracy)}"
        )
    return "\n".join(lines)


def _scored(found: Sequence[Head], scores: Tensor) -> str:
    return ", ".join(f"{head} {scores[head.layer, head.number].item():.2f}" for head in found)


def _bar(share: float) -> str:
    return "█" * round(share * BAR)

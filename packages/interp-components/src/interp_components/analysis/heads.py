"""What heads are for: `induction_scores(model)` and `previous_token_scores(model, texts)`.

Both read patterns, which the eager kernel alone writes out; a model that runs another is eager for this run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from interp_components.analysis.inputs import Batch, Inputs, read
from interp_components.analysis.sites import layers_of, record, site
from interp_components.model import StandardizedTransformer


@dataclass(frozen=True, repr=False)
class HeadScores:
    """A number between 0 and 1 for each head.

    Attributes:
        values: Scores [layer, head].
        layers: The blocks along the first axis.
    """

    values: Tensor
    layers: tuple[int, ...]

    def strongest(self, k: int = 5) -> list[tuple[str, float]]:
        """Return the `k` heads with the highest scores: `("L1H2", 0.91)`."""
        top = self.values.flatten().topk(min(k, self.values.numel()))
        heads = (divmod(number, self.values.shape[1]) for number in top.indices.tolist())
        return [
            (f"L{self.layers[row]}H{head}", score)
            for (row, head), score in zip(heads, top.values.tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        layers, heads = self.values.shape
        strongest = ", ".join(f"{name} {score:.2f}" for name, score in self.strongest(3))
        return f"HeadScores[layer={layers} head={heads}] strongest {strongest}"


@torch.no_grad()
def induction_scores(
    model: StandardizedTransformer,
    *,
    layers: int | Iterable[int] | None = None,
    length: int = 40,
    rows: int = 4,
    seed: int = 0,
) -> HeadScores:
    """Return how much each head attends to what followed this token the last time.

    Args:
        model: The model, which is given random tokens that repeat.
        layers: Which blocks; all of them when None.
        length: How many tokens repeat; the input is twice as long.
        rows: How many prompts.
        seed: Which random tokens.

    Returns:
        The share of attention [layer, head] that the second round pays to the token behind the same one of the first,
        in the mean over positions and prompts.
    """
    generator = torch.Generator().manual_seed(seed)
    once = torch.randint(0, model.vocab_size, (rows, length), generator=generator)
    batch = read(model, torch.cat([once, once], dim=1))
    return _on_diagonal(model, batch, layers_of(model, layers), length - 1, torch.arange(2 * length) >= length)


@torch.no_grad()
def previous_token_scores(
    model: StandardizedTransformer, inputs: Inputs, *, layers: int | Iterable[int] | None = None
) -> HeadScores:
    """Return how much each head attends to the token before.

    Args:
        model: The model.
        inputs: Any input of `model.trace`.
        layers: Which blocks; all of them when None.

    Returns:
        The share of attention [layer, head] that a token pays to the one before it, in the mean over all but the first of
        each prompt.
    """
    batch = read(model, inputs)
    return _on_diagonal(model, batch, layers_of(model, layers), 1, batch.mask.cumsum(-1) > 1)


def _on_diagonal(
    model: StandardizedTransformer, batch: Batch, layers: tuple[int, ...], back: int, queries: Tensor
) -> HeadScores:
    """The mean attention to the token `back` places before, of the queries [seq] or [batch, seq] that count."""
    with _eager(model):
        patterns = record(model, batch.arguments, site(model, "patterns", layers[0]), layers)
    counted = queries.expand(batch.rows, -1)[:, back:].float()
    scores = []
    for pattern in patterns.values():
        paid = pattern.diagonal(-back, dim1=2, dim2=3).float()
        weights = counted[:, None].to(paid)
        scores.append((paid * weights).sum(dim=(0, 2)) / weights.sum(dim=(0, 2)))
    return HeadScores(torch.stack(scores).cpu(), layers)


@contextmanager
def _eager(model: StandardizedTransformer) -> Iterator[None]:
    """Have the model run the eager kernel inside."""
    before = model.attn_implementation
    if before == "eager":
        yield
        return
    model.attn_implementation = "eager"
    try:
        yield
    finally:
        model.attn_implementation = before

"""The experiments of the demo, each a function of the model that returns what it found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from interp_components.model import StandardizedTransformer
from interp_components.saving import save

ROUND, ROUNDS, ROWS = 40, 2, 4


class Head(NamedTuple):
    """One attention head."""

    layer: int
    number: int

    def __str__(self) -> str:
        """Return the head's usual short name."""
        return f"L{self.layer}H{self.number}"


class Guess(NamedTuple):
    """A token as text, and how probable it is."""

    text: str
    probability: float


@dataclass(frozen=True)
class Lens:
    """What the model would say after each layer.

    Attributes:
        tokens: the prompt's tokens.
        layers: per layer, the best guess at each position.
        ranks: per layer, how many tokens come before the final answer at the last position.
        answer: the model's own prediction.
    """

    tokens: list[str]
    layers: list[list[Guess]]
    ranks: list[int]
    answer: str


@dataclass(frozen=True)
class Scores:
    """How much each head attends [layer, head]: to the token before, and to what followed this token the last time."""

    previous: Tensor
    induction: Tensor


class Repetition(NamedTuple):
    """How well a repetition is continued: share of right predictions, and the loss in nats."""

    accuracy: float
    loss: float


@dataclass(frozen=True)
class Picture:
    """What one head attends to: pattern [query, key] over the tokens, rows sum to 1."""

    head: Head
    tokens: list[str]
    pattern: Tensor


def next_tokens(model: StandardizedTransformer, prompt: str, count: int = 5) -> list[Guess]:
    """Return the likeliest next tokens."""
    with model.trace(prompt):
        probabilities = model.next_token_probs[0].save()
    best = probabilities.topk(count)
    return [
        Guess(spelled(model, token), p) for p, token in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def lens(model: StandardizedTransformer, prompt: str) -> Lens:
    """Read the residual stream after every layer as if it were the last."""
    with model.trace(prompt):
        ids = model.input_ids[0].save()
        streams = save([layer.layer_output[0] for layer in model.layers])
        logits = model.logits[0].save()
    answer = logits[-1].argmax()
    layers, ranks = [], []
    for stream in streams:
        probabilities = model.project_on_vocab(stream).softmax(-1)
        best = probabilities.max(-1)
        guesses = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        layers.append([Guess(spelled(model, token), probability) for token, probability in guesses])
        ranks.append(int((probabilities[-1] > probabilities[-1, answer]).sum()))
    return Lens([spelled(model, token) for token in ids.tolist()], layers, ranks, spelled(model, int(answer)))


def repetition(model: StandardizedTransformer) -> Tensor:
    """Return rows of random tokens that come twice, after the token that begins a text [row, position]."""
    generator = torch.Generator().manual_seed(0)
    # Not the first tokens, which are bytes and marks, nor the last, which are rare.
    once = torch.randint(model.vocab_size // 10, model.vocab_size * 9 // 10, (ROWS, ROUND), generator=generator)
    tokenizer = model.tokenizer
    begin = torch.full((ROWS, 1), tokenizer.bos_token_id or 0 if tokenizer is not None else 0)
    return torch.cat([begin, *[once] * ROUNDS], dim=1)


def head_scores(model: StandardizedTransformer, ids: Tensor) -> Scores:
    """Measure on a repetition how much each head looks one back, and how much it looks behind the earlier copy."""
    with model.trace(ids):
        stacked = save(torch.stack([layer.self_attn.attention_probabilities.mean(0) for layer in model.layers]))
    return diagonals(stacked)


def diagonals(patterns: Tensor) -> Scores:
    """Score patterns [layer, head, query, key] of a repetition by what lies on two of their diagonals."""
    previous = patterns.diagonal(-1, -2, -1).mean(-1)
    # From the second round on: query ROUND + 1 is the first token again, and key 2 is what followed it.
    induction = patterns.diagonal(1 - ROUND, -2, -1)[..., 2:].mean(-1)
    return Scores(previous, induction)


def strongest(scores: Tensor, count: int) -> list[Head]:
    """Return the heads with the largest scores, largest first."""
    heads = scores.shape[1]
    return [Head(place // heads, place % heads) for place in scores.flatten().topk(count).indices.tolist()]


def bystanders(scores: Tensor, heads: Sequence[Head]) -> list[Head]:
    """Return as many other heads as `heads`, of the same layers as far as there are, those with the smallest scores."""
    layers, width = scores.shape
    left = {Head(layer, number) for layer in range(layers) for number in range(width)} - set(heads)
    found = []
    for head in heads:
        other = min(left, key=lambda each: (each.layer != head.layer, scores[each.layer, each.number].item()))
        left.discard(other)
        found.append(other)
    return found


def continued(model: StandardizedTransformer, ids: Tensor, without: Collection[Head] = ()) -> Repetition:
    """Measure how well the second round is predicted, with the outputs of some heads set to zero."""
    with model.trace(ids):
        for layer in sorted({head.layer for head in without}):
            outputs = model.layers[layer].self_attn.attention_head_outputs
            outputs[:, :, [head.number for head in without if head.layer == layer]] = 0
        logits = model.logits.save()
    predicted, known = logits[:, ROUND + 1 : -1], ids[:, ROUND + 2 :]
    loss = torch.nn.functional.cross_entropy(predicted.flatten(0, 1), known.flatten())
    return Repetition((predicted.argmax(-1) == known).float().mean().item(), loss.item())


def pictures(model: StandardizedTransformer, text: str, heads: Sequence[Head]) -> list[Picture]:
    """Return what some heads attend to in a text."""
    patterns = {}
    with model.trace(text):
        ids = model.input_ids[0].save()
        for head in sorted(heads):
            patterns[head] = model.layers[head.layer].self_attn.attention_probabilities[0, head.number].save()
    tokens = [spelled(model, token) for token in ids.tolist()]
    return [Picture(head, tokens, patterns[head]) for head in heads]


def spelled(model: StandardizedTransformer, token: int) -> str:
    """Return the text of a token."""
    return str(model.tokenizer.decode([token])) if model.tokenizer is not None else f"#{token}"

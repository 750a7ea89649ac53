"""Rows of token ids to learn from: repeats of random tokens, packed sentences, and windows of prose.

Each row comes with a weight for every token: how much predicting that token counts.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import torch
from sentences import ENDINGS, alone, control, sentence
from tokenizers import Tokenizer
from torch import Tensor

ANSWER_WEIGHT = 8.0
"""An answer is one token in twenty of its sentence, and the only one that needs the circuit."""


class Rows(NamedTuple):
    """Token ids and weights, both [row, position]."""

    ids: Tensor
    weights: Tensor


def join(*parts: Rows) -> Rows:
    """The rows of all parts under one another."""
    return Rows(*(torch.cat(columns) for columns in zip(*parts, strict=True)))


def repeats(generator: torch.Generator, count: int, length: int, alphabet: int, periods: tuple[int, int]) -> Rows:
    """Random tokens that repeat after a random period; only what can be known, the repetition, counts."""
    ids = torch.randint(1, alphabet, (count, length), generator=generator)
    period = torch.randint(*periods, (count, 1), generator=generator)
    position = torch.arange(length)
    return Rows(ids.gather(1, position % period), (position >= period).float())


def prose(generator: torch.Generator, tokens: Tensor, count: int, length: int) -> Rows:
    """Windows of the novels."""
    start = torch.randint(len(tokens) - length, (count, 1), generator=generator)
    return Rows(tokens[start + torch.arange(length)], torch.ones(count, length))


def packed(chance: random.Random, tokenizer: Tokenizer, count: int, length: int) -> Rows:
    """Sentences one after the other, each begun by the end-of-text token (id 0), except a row's first now and then."""
    return join(*(_packed_row(chance, tokenizer, length) for _ in range(count)))


def _packed_row(chance: random.Random, tokenizer: Tokenizer, length: int) -> Rows:
    ids: list[int] = []
    weights: list[float] = []
    while len(ids) < length:
        prompt, rest, weight = _story(chance)
        asked, whole = (tokenizer.encode(text).ids for text in (prompt, prompt + rest))
        begun = [0] if ids or chance.random() < 0.5 else []
        ids += begun + whole
        weights += [1.0] * (len(begun) + len(asked)) + [weight] + [1.0] * (len(whole) - len(asked) - 1)
    return Rows(torch.tensor([ids[:length]]), torch.tensor([weights[:length]]))


def _story(chance: random.Random) -> tuple[str, str, float]:
    """A prompt, what follows it, and the weight of the first token that follows."""
    kind = chance.random()
    if kind < 0.15:
        return alone(chance), "\n", 1.0
    example, weight = (control(chance), 1.0) if kind < 0.25 else (sentence(chance), ANSWER_WEIGHT)
    return example.prompt, f" {example.answer}{chance.choice(ENDINGS)}", weight

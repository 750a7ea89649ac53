"""`interp attention MODEL PROMPT`: where each head looks, and what it may be for."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from interp_components.analysis import induction_scores, previous_token_scores
from interp_components.analysis.inputs import Batch
from interp_components.analysis.sites import layers_of
from interp_components.cli.answers import Answer, Cell, CommandError, Pictures, Table, percent
from interp_components.cli.models import opened, prompted
from interp_components.demo.experiments import Head, Picture, spelled
from interp_components.demo.markup import shown
from interp_components.model import StandardizedTransformer
from interp_components.model.inner import longest_input
from interp_components.saving import save
from interp_components.standard import Attention

SQUARES = 100_000
"""How many squares the pictures of a page have, at most: 8 MB, which a browser still draws at once."""
ROUND = 40
"""How many random tokens are repeated to find heads of induction."""


class Looks(NamedTuple):
    """What one head looks at.

    Attributes:
        head: The head.
        previous: The share of attention that goes to the token before.
        first: The share that goes to the first token.
        induction: The share that goes to what followed this token the last time, on random tokens that repeat.
        sources: The places that the asked token looks at most, with their shares.
        pattern: Pattern [query, key] of the prompt.
    """

    head: Head
    previous: float
    first: float
    induction: float
    sources: list[tuple[int, float]]
    pattern: Tensor


@torch.no_grad()
def answer(asked: Namespace) -> Answer:
    """The heads of the model on the prompt that are asked for."""
    model = opened(asked)
    text, batch = prompted(asked, model)
    if not -batch.length <= asked.token < batch.length:
        raise CommandError(
            f"--token {asked.token} is no place of a prompt of {batch.length} tokens, 0 to {batch.length - 1}"
        )
    query = asked.token % batch.length
    found = _looks(model, batch, _layers(model, asked.layer), query, asked.top)
    if asked.sort != "head":
        found.sort(key=lambda looks: float(getattr(looks, asked.sort)), reverse=True)
    tokens = [spelled(model, token) for token in batch.arguments["input_ids"][0].tolist()]
    facts = {
        "prompt": text,
        "tokens": [{"position": at, "text": token} for at, token in enumerate(tokens)],
        "query": query,
        "heads": [_facts(looks, tokens) for looks in found],
    }
    about = (
        "The share of its attention that a head pays to\n"
        "previous   the token before, in the mean over the prompt\n"
        "first      the first token, in the mean over the prompt\n"
        "induction  what followed this token the last time, on random tokens that repeat\n"
        f"looks at   the places that {tokens[query]!r} at {query} looks at most"
    )
    return Answer(
        f"{asked.model}: {text!r}, {batch.length} tokens",
        facts,
        [about, _table(found, tokens), _pictures(found, tokens)],
    )


def _layers(model: StandardizedTransformer, asked: Sequence[int] | None) -> tuple[int, ...]:
    """The layers that are asked for, or all that have attention."""
    count = model.num_layers
    if asked is not None:
        outside = [layer for layer in asked if not -count <= layer < count]
        if outside:
            raise CommandError(f"--layer {outside[0]} is no layer of a model with {count}, 0 to {count - 1}")
        return layers_of(model, asked)
    blocks = enumerate(model.layers)
    found = tuple(number for number, block in blocks if isinstance(getattr(block, "self_attn", None), Attention))
    if not found:
        raise CommandError("no layer of this model has attention with a pattern. `interp tree` shows what it has")
    return found


def _looks(
    model: StandardizedTransformer, batch: Batch, layers: tuple[int, ...], query: int, count: int
) -> list[Looks]:
    eager = True if len(layers) == model.num_layers else layers
    with model.trace(batch.arguments, eager=eager) as tracer:
        patterns = save([model.layers[layer].self_attn.attention_probabilities[0] for layer in layers])
        tracer.stop()
    longest = longest_input(model._module)
    length = ROUND if longest is None else min(ROUND, longest // 2)
    induction = induction_scores(model, layers=layers, length=length).values.tolist()
    previous = previous_token_scores(model, batch, layers=layers).values.tolist()
    found = []
    for row, layer in enumerate(layers):
        for number, pattern in enumerate(patterns[row].float().cpu()):
            most = pattern[query].topk(min(count, query + 1))
            sources = list(zip(most.indices.tolist(), most.values.tolist(), strict=True))
            first = pattern[1:, 0].mean().item()
            scores = (previous[row][number], first, induction[row][number])
            found.append(Looks(Head(layer, number), *scores, sources, pattern))
    return found


def _facts(looks: Looks, tokens: Sequence[str]) -> dict[str, Any]:
    return {
        "layer": looks.head.layer,
        "head": looks.head.number,
        "previous": looks.previous,
        "first": looks.first,
        "induction": looks.induction,
        "sources": [{"position": at, "text": tokens[at], "share": share} for at, share in looks.sources],
    }


def _table(found: Sequence[Looks], tokens: Sequence[str]) -> Table:
    rows = []
    for looks in found:
        scores = [_score(score) for score in (looks.previous, looks.first, looks.induction)]
        sources = [Cell(f"{shown(tokens[at])} at {at} {percent(share)}", share=share) for at, share in looks.sources]
        rows.append([Cell(str(looks.head), "label"), *scores, *sources])
    count = len(found[0].sources) if found else 0
    columns = ("head", "previous", "first", "induction", *(f"looks at {number}" for number in range(1, count + 1)))
    return Table(rows, columns, frozenset({1, 2, 3}))


def _score(score: float) -> Cell:
    return Cell("-", "faint") if math.isnan(score) else Cell(f"{score:.2f}", share=score)


def _pictures(found: Sequence[Looks], tokens: Sequence[str]) -> Pictures:
    """The patterns, as many as a page holds."""
    count = max(1, SQUARES // len(tokens) ** 2)
    note = "What each head looks at, from each token (row) to those before it (columns)."
    if count < len(found):
        note += f" The first {count} of {len(found)} heads are drawn; --layer and --sort choose others."
    return Pictures([Picture(looks.head, list(tokens), looks.pattern) for looks in found[:count]], note)

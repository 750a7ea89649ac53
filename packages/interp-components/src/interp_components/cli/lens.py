"""`interp lens MODEL PROMPT`: what a model would say after each layer, at each token."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, NamedTuple

from torch import Tensor

from interp_components.analysis import first_tokens, logit_lens
from interp_components.cli.answers import Answer, Cell, Table, percent
from interp_components.cli.models import opened, prompted
from interp_components.demo.experiments import spelled
from interp_components.demo.markup import shown
from interp_components.model import StandardizedTransformer


class Guess(NamedTuple):
    """A token, and how probable it is."""

    id: int
    text: str
    probability: float


class Layer(NamedTuple):
    """What would be said after a layer.

    Attributes:
        top: The likeliest tokens at each place.
        probability: How probable the answer is at the last place.
        rank: Which of all tokens the answer is there; 1 is the likeliest.
    """

    top: list[list[Guess]]
    probability: float
    rank: int


def answer(asked: Namespace) -> Answer:
    """The lens of the model and the prompt that are asked for."""
    model = opened(asked)
    text, batch = prompted(asked, model)
    lens = logit_lens(model, batch, positions=slice(-asked.last, None))
    said = int(lens.logits[-1, 0, -1].argmax()) if asked.word is None else first_tokens(model, asked.word)[0]
    ranks = lens.ranks(said).tolist()
    layers = [_layer(model, logits[0], said, rank, asked.top) for logits, rank in zip(lens.logits, ranks, strict=True)]
    ids = lens.input_ids[0].tolist()
    first = batch.length - len(ids)
    tokens = [{"position": first + at, "id": each, "text": spelled(model, each)} for at, each in enumerate(ids)]
    word = Guess(said, spelled(model, said), layers[-1].probability)
    facts = {
        "prompt": text,
        "tokens": tokens,
        "answer": word._asdict(),
        "layers": [{"layer": number, **_facts(layer)} for number, layer in enumerate(layers)],
    }
    title = f"{asked.model}: {text!r}, {batch.length} tokens"
    grid = _grid(layers, [each["text"] for each in tokens])
    whose = "the model's answer" if asked.word is None else "the first token of the word"
    return Answer(
        title,
        facts,
        [
            "What the model would say after each layer (rows) at each token (columns), and how sure it would be.",
            grid,
            f"At the last token; {word.text!r} is {whose}.",
            _last(layers, word),
        ],
    )


def _layer(model: StandardizedTransformer, logits: Tensor, said: int, rank: int, count: int) -> Layer:
    """What logits [seq, vocab] say."""
    probabilities = logits.float().softmax(-1)
    best = probabilities.topk(min(count, probabilities.shape[-1]))
    top = [
        [Guess(token, spelled(model, token), p) for p, token in zip(values, tokens, strict=True)]
        for values, tokens in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
    return Layer(top, probabilities[-1, said].item(), rank + 1)


def _facts(layer: Layer) -> dict[str, Any]:
    return {
        "probability": layer.probability,
        "rank": layer.rank,
        "top": [[guess._asdict() for guess in place] for place in layer.top],
    }


def _grid(layers: list[Layer], tokens: list[str]) -> Table:
    rows = [
        [Cell(str(number), "label"), *(_guess(place) for place in layer.top)] for number, layer in enumerate(layers)
    ]
    return Table(rows, ("layer", *map(shown, tokens)), frozenset({0}), repeated=1)


def _guess(place: list[Guess]) -> Cell:
    best = place[0]
    more = "\n".join(f"{shown(guess.text)} {guess.probability:.1%}" for guess in place)
    return Cell(f"{shown(best.text)} {percent(best.probability)}", share=best.probability, more=more)


def _last(layers: list[Layer], word: Guess) -> Table:
    """How the answer comes up at the last token."""
    rows = []
    for number, layer in enumerate(layers):
        sure = Cell(f"{layer.probability:.1%}", share=layer.probability)
        guesses = [_guess([guess]) for guess in layer.top[-1]]
        rows.append([Cell(str(number), "label"), sure, Cell(str(layer.rank)), *guesses])
    others = [f"guess {number}" for number in range(1, len(layers[0].top[-1]) + 1)]
    return Table(rows, ("layer", shown(word.text), "rank", *others), frozenset({0, 1, 2}))

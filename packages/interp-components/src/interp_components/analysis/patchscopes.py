"""`patchscope(model, "Paris is the capital of")`: what the model itself says a hidden state means.

The stream behind each block of one prompt is put into another prompt, by default one that has the model repeat a word, and
the model goes on from there. All blocks are rows of one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from interp_components.analysis.inputs import Batch, Inputs, read
from interp_components.analysis.sites import Site, layers_of, record, site
from interp_components.model import InputError, StandardizedTransformer
from interp_components.saving import save

REPEAT: Final = "cat -> cat\n1135 -> 1135\nhello -> hello\n?"
"""A prompt whose last token stands for a word that is to be said again."""


@dataclass(frozen=True, repr=False)
class Patchscope:
    """What a model goes on with, by the block that the hidden state comes from.

    Attributes:
        model: The model, for its tokenizer.
        layers: The blocks that the hidden states come from.
        logits: Logits [layer, vocab] of the token after the target prompt.
        ids: What was generated [layer, token], None unless asked for.
    """

    model: StandardizedTransformer
    layers: tuple[int, ...]
    logits: Tensor
    ids: Tensor | None = None

    def top(self, k: int = 5) -> list[dict[str, float]]:
        """Return the `k` likeliest next tokens by block, as text, with their probabilities."""
        return [self.model.probs_to_dict(probs, k) for probs in self.logits.softmax(dim=-1)]

    @property
    def texts(self) -> list[str]:
        """What was generated, by block; empty texts unless asked for."""
        if self.ids is None or self.model.tokenizer is None:
            return [""] * len(self.layers)
        return [str(self.model.tokenizer.decode(row)) for row in self.ids.tolist()]

    def __repr__(self) -> str:
        said = ", ".join(repr(next(iter(top))) for top in self.top(1)) if self.model.tokenizer is not None else "..."
        return f"Patchscope[layer={len(self.layers)}] {said}"


@torch.no_grad()
def patchscope(
    model: StandardizedTransformer,
    source: Inputs,
    target: Inputs = REPEAT,
    *,
    layers: int | Iterable[int] | None = None,
    target_layer: int | None = None,
    source_position: int = -1,
    target_position: int = -1,
    max_new_tokens: int = 0,
) -> Patchscope:
    """Return what the model says after the target prompt with hidden states of the source prompt in it.

    Args:
        model: The model.
        source: One prompt, any input of `model.trace`.
        target: One prompt that asks about the position that is replaced.
        layers: The blocks whose outputs are taken; all of them by default.
        target_layer: The block whose output is replaced; by default the one that the hidden state comes from.
        source_position: Where it is taken.
        target_position: Where it is put.
        max_new_tokens: How many tokens to generate, greedily; none by default.

    Raises:
        InputError: Source or target are several prompts.
        ValueError: There is no such block.
    """
    told, asked = _one(read(model, source), "source"), _one(read(model, target), "target")
    chosen = layers_of(model, layers)
    residual = site(model, "residual")
    streams = record(model, told.arguments, residual, chosen)
    states = torch.stack([stream[0, source_position] for stream in streams.values()])
    into = chosen if target_layer is None else layers_of(model, target_layer) * len(chosen)
    logits = _logits(model, asked.repeated(len(chosen)), residual, into, states, target_position)
    if not max_new_tokens:
        return Patchscope(model, chosen, logits)
    arguments = asked.repeated(len(chosen))
    with model.generate(arguments, max_new_tokens=max_new_tokens, do_sample=False) as tracer:
        _put(model, residual, into, states, target_position)
        ids = tracer.result.save()
    return Patchscope(model, chosen, logits, ids[:, asked.length :])


def _logits(
    model: StandardizedTransformer,
    arguments: dict[str, Tensor],
    at: Site,
    layers: Sequence[int],
    states: Tensor,
    position: int,
) -> Tensor:
    with model.trace(arguments):
        _put(model, at, layers, states, position)
        logits: Tensor = save(model.logits[:, -1])
    return logits


def _put(model: StandardizedTransformer, at: Site, layers: Sequence[int], states: Tensor, position: int) -> None:
    """Replace a position of each row behind the row's own block, in a trace."""
    for layer in sorted(set(layers)):
        rows = [row for row, each in enumerate(layers) if each == layer]
        value = at.read(model, layer).clone()
        value[rows, position] = states[rows].to(value)
        at.write(model, layer, value)


def _one(batch: Batch, name: str) -> Batch:
    if batch.rows != 1:
        raise InputError(f"the {name} of a patchscope is one prompt, and this is {batch.rows}")
    return batch

"""`logit_lens(model, "The Eiffel Tower is in")`: what the model would say after each block.

The stream behind each block goes through the last norm and the output head, as the last block's does. Of the last block
that is what the model says. A translator brings the stream of an earlier block into the form of the last one's first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from interp_components.analysis.inputs import Inputs, read
from interp_components.analysis.sites import layers_of, record, site
from interp_components.analysis.tokens import Words, first_tokens
from interp_components.errors import InterpError
from interp_components.model import StandardizedTransformer

Translator: TypeAlias = Callable[[Tensor], Tensor]


class TranslatorError(InterpError, ValueError):
    """There are not as many translators as blocks."""


@dataclass(frozen=True, repr=False)
class Lens:
    """What the model would say after each block.

    Attributes:
        model: The model, for its tokenizer.
        input_ids: Tokens [batch, seq] of the chosen positions.
        logits: Logits [layer, batch, seq, vocab], with whatever the family does to them last.
    """

    model: StandardizedTransformer
    input_ids: Tensor
    logits: Tensor

    @property
    def probabilities(self) -> Tensor:
        """Probabilities of the next token [layer, batch, seq, vocab]."""
        return self.logits.softmax(dim=-1)

    def top(self, k: int = 5, row: int = 0, position: int = -1) -> list[dict[str, float]]:
        """Return the `k` likeliest tokens after each block, as text, with their probabilities."""
        return [self.model.probs_to_dict(probs, k) for probs in self.logits[:, row, position].softmax(dim=-1)]

    def ranks(self, word: Words, row: int = 0, position: int = -1) -> Tensor:
        """Return how many tokens are likelier than the word's first, after each block [layer]; 0 is the likeliest."""
        logits = self.logits[:, row, position]
        return (logits > logits[:, first_tokens(self.model, word)[0], None]).sum(dim=-1)

    def __repr__(self) -> str:
        sizes = " ".join(f"{axis}={size}" for axis, size in zip(_AXES, self.logits.shape, strict=True))
        return f"Lens[{sizes}]"


_AXES = ("layer", "batch", "seq", "vocab")


@torch.no_grad()
def logit_lens(
    model: StandardizedTransformer,
    inputs: Inputs,
    *,
    translators: Sequence[Translator] | None = None,
    positions: int | slice | Sequence[int] = slice(None),
) -> Lens:
    """Return what the model would say after each block.

    Args:
        model: The model.
        inputs: Any input of `model.trace`.
        translators: For a tuned lens, what brings the stream behind each block, [..., hidden], into the form of the last
            one's: a module or function for each block, or for each but the last.
        positions: Which positions; logits of all of them take layer x batch x seq x vocab numbers.

    Raises:
        TranslatorError: There are not as many translators as blocks.
        UnsupportedFamily: The model has no output head that is known.
    """
    batch = read(model, inputs)
    chosen = [positions] if isinstance(positions, int) else positions
    streams = record(model, batch.arguments, site(model, "residual"), layers_of(model, None))
    each = [stream[:, chosen] for stream in streams.values()]
    if translators is not None:
        each = _translated(each, translators)
    logits = torch.stack([model.project_on_vocab(stream) for stream in each])
    return Lens(model, batch.arguments["input_ids"][:, chosen], logits)


def _translated(streams: Sequence[Tensor], translators: Sequence[Translator]) -> list[Tensor]:
    if len(translators) not in {len(streams), len(streams) - 1}:
        raise TranslatorError(
            f"{len(translators)} translators for {len(streams)} blocks: give one for each, or for each but the last"
        )
    count = len(translators)
    return [*(tell(stream) for tell, stream in zip(translators, streams, strict=False)), *streams[count:]]

"""Prompts with what may come next: `Prompt.of(model, "The capital of France is", {"right": " Paris", "wrong": " Rome"})`.

A target is a word, or several that count as one answer, each looked for by its first token. Two targets that begin with
the same token cannot be told apart by the model's next token, and are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from interp_components.analysis.sweeps import chunks
from interp_components.analysis.tokens import TargetCollision, Words, first_tokens
from interp_components.errors import InterpError
from interp_components.model import StandardizedTransformer
from interp_components.saving import save


class TargetError(InterpError, ValueError):
    """Prompts that are run together do not have the same targets."""


@dataclass(frozen=True)
class Prompt:
    """A text, and which tokens count as which answer.

    Attributes:
        text: What the model is given.
        targets: By the name of an answer, the tokens that it may begin with.
    """

    text: str
    targets: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, model: StandardizedTransformer, text: str, targets: Mapping[str, Words]) -> Prompt:
        """Return a prompt for a model.

        Args:
            model: The model, for its tokenizer.
            text: What the model is given.
            targets: By a name of your choice, a word as it stands in the text, with its space, or several.

        Raises:
            TargetCollision: Words of two targets begin with the same token.
        """
        found = {name: tuple(dict.fromkeys(first_tokens(model, words))) for name, words in targets.items()}
        _refuse_collisions(model, found)
        return cls(text, found)


@torch.no_grad()
def target_probabilities(
    model: StandardizedTransformer, prompts: Sequence[Prompt], *, batch_size: int = 32, progress: bool = False
) -> dict[str, Tensor]:
    """Return how probable each answer is as the next token of each prompt.

    Args:
        model: The model.
        prompts: Prompts with targets of the same names.
        batch_size: Rows of a forward.
        progress: Whether to show a bar.

    Returns:
        By the name of the target, probabilities [prompt]: the sum over the tokens that the answer may begin with.

    Raises:
        TargetError: The prompts do not have targets of the same names, or there are no prompts.
    """
    names = _names(prompts)
    found: dict[str, list[Tensor]] = {name: [] for name in names}
    for part in chunks(prompts, batch_size, progress, "prompts"):
        with model.trace([prompt.text for prompt in part]):
            probs = save(model.next_token_probs)
        for prompt, row in zip(part, probs, strict=True):
            for name in names:
                found[name].append(row[list(prompt.targets[name])].sum())
    return {name: torch.stack(each) for name, each in found.items()}


def _names(prompts: Sequence[Prompt]) -> list[str]:
    if not prompts:
        raise TargetError("there are no prompts to run")
    names = list(prompts[0].targets)
    for number, prompt in enumerate(prompts):
        if set(prompt.targets) != set(names):
            raise TargetError(
                f"prompt {number} has the targets {list(prompt.targets)} and prompt 0 {names}: what is run together "
                f"has targets of the same names"
            )
    return names


def _refuse_collisions(model: StandardizedTransformer, targets: Mapping[str, tuple[int, ...]]) -> None:
    owner: dict[int, str] = {}
    for name, ids in targets.items():
        for token in ids:
            if token in owner:
                text = "" if model.tokenizer is None else f" ({model.tokenizer.decode([token])!r})"
                raise TargetCollision(
                    f"the targets {owner[token]!r} and {name!r} both begin with token {token}{text}, so the next token "
                    f"cannot tell them apart: choose words that begin differently"
                )
            owner[token] = name

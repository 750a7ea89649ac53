"""What a toy model can do, and which heads do it: the figures of its model card.

`python tooling/toy/measure.py FOLDER` measures the model in a folder, by hooks of torch alone.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import torch
from rows import repeats
from sentences import (
    ACTIONS,
    HELD_OUT_ACTIONS,
    HELD_OUT_NAMES,
    HELD_OUT_OPENINGS,
    NAMES,
    OPENINGS,
    Sentence,
    control,
    sentence,
)
from torch import Tensor, nn
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

Head = tuple[int, int]
Figures = dict[str, float | str]


def stored(folder: Path) -> tuple[GPT2LMHeadModel, PreTrainedTokenizerFast]:
    """The model in a folder, in single precision, and its tokenizer; as loaded, it is in evaluation mode."""
    return GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32), PreTrainedTokenizerFast.from_pretrained(folder)


def measure(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast) -> Figures:
    """Accuracies, head scores, and what remains without some heads."""
    return {**_induction(model), **_sentences(model, tokenizer)}


def induction_accuracy(model: GPT2LMHeadModel, alphabet: int | None = None, seed: int = 1) -> float:
    """How often the next token of an unseen random repetition is predicted, from the second round on."""
    rows = repeats(torch.Generator().manual_seed(seed), 32, 64, alphabet or model.config.vocab_size, (16, 32))
    with torch.no_grad():
        guess = model(rows.ids).logits.argmax(-1)
    known = rows.weights[:, 1:].bool()
    known[:, :32] = False
    return float((guess[:, :-1] == rows.ids[:, 1:])[known].float().mean())


class Answers(NamedTuple):
    """Shares of sentences: the answer beats every other token; it beats the repeated name. And by how many logits."""

    first: float
    before_repeated: float
    margin: float


def answers(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, examples: Sequence[Sentence]) -> Answers:
    """How the model ends some sentences."""
    first, margins = [], []
    for example in examples:
        answer, repeated = (token for (token,) in tokenizer([example.answer, example.repeated]).input_ids)
        with torch.no_grad():
            logits = model(**tokenizer(example.prompt, return_tensors="pt")).logits[0, -1]
        first.append(logits.argmax().item() == answer)
        margins.append((logits[answer] - logits[repeated]).item())
    return Answers(fmean(first), fmean(margin > 0 for margin in margins), fmean(margins))


def head_scores(
    model: GPT2LMHeadModel, alphabet: int | None = None, seed: int = 2
) -> tuple[dict[Head, float], dict[Head, float]]:
    """Per head, the mean attention to the token before, and to the token after the earlier copy of this one."""
    period = 24
    ids = repeats(
        torch.Generator().manual_seed(seed), 16, 2 * period, alphabet or model.config.vocab_size, (period, period + 1)
    ).ids
    used = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        patterns = model(ids, output_attentions=True).attentions
    model.set_attn_implementation(used)
    before, copied = {}, {}
    for layer, pattern in enumerate(patterns):
        for head in range(pattern.shape[1]):
            before[layer, head] = pattern[:, head].diagonal(-1, 1, 2).mean().item()
            copied[layer, head] = pattern[:, head].diagonal(1 - period, 1, 2).mean().item()
    return before, copied


@contextmanager
def without(model: GPT2LMHeadModel, heads: Sequence[Head]) -> Iterator[None]:
    """Run with the outputs of some heads set to zero."""
    width = model.config.n_embd // model.config.n_head

    def silence(chosen: list[int]) -> Callable[[nn.Module, tuple[Tensor]], tuple[Tensor]]:
        def hook(module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
            value = args[0].clone()
            for head in chosen:
                value[..., head * width : (head + 1) * width] = 0
            return (value,)

        return hook

    layers = {layer for layer, _ in heads}
    handles = []
    for layer in layers:
        projection = model.get_submodule(f"transformer.h.{layer}.attn.c_proj")
        chosen = [number for at, number in heads if at == layer]
        handles.append(projection.register_forward_pre_hook(silence(chosen)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _induction(model: GPT2LMHeadModel) -> Figures:
    before, copied = head_scores(model)
    previous = sorted(before, key=lambda head: -before[head])[:2]
    inducing = [head for head in copied if copied[head] > 0.3]
    figures: Figures = {
        "induction accuracy": induction_accuracy(model),
        "previous-token heads": ", ".join(f"L{i}H{h} {before[i, h]:.2f}" for i, h in previous),
        "induction heads": ", ".join(f"L{i}H{h} {copied[i, h]:.2f}" for i, h in inducing),
    }
    controls = [head for head in before if head[0] == previous[0][0] and head not in previous][:2]
    for what, heads in {
        "previous-token heads": previous,
        "induction heads": inducing,
        "control heads": controls,
    }.items():
        with without(model, heads):
            figures[f"induction accuracy without {what}"] = induction_accuracy(model)
    return figures


def _sentences(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, count: int = 200) -> Figures:
    chance = random.Random(3)
    kinds: dict[str, Callable[[], Sentence]] = {
        "known names, known templates": lambda: sentence(chance),
        "held-out names, known templates": lambda: sentence(chance, HELD_OUT_NAMES),
        "known names, held-out openings": lambda: sentence(chance, NAMES, HELD_OUT_OPENINGS, ACTIONS),
        "known names, held-out actions": lambda: sentence(chance, NAMES, OPENINGS, HELD_OUT_ACTIONS),
        "held-out names, held-out openings and actions": lambda: sentence(
            chance, HELD_OUT_NAMES, HELD_OUT_OPENINGS, HELD_OUT_ACTIONS
        ),
        "control: a third name acts": lambda: control(chance),
    }
    figures: Figures = {}
    for kind, make in kinds.items():
        found = answers(model, tokenizer, [make() for _ in range(count)])
        figures[kind] = (
            f"{found.first:.2f} first, {found.before_repeated:.2f} before the repeated, {found.margin:+.1f} logits"
        )
    return figures


def main() -> None:
    """Print the figures of the model in the folder that the command line names."""
    print(json.dumps(measure(*stored(Path(sys.argv[1]))), indent=1))


if __name__ == "__main__":
    main()

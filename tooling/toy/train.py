"""Train the toy model: `python tooling/toy/train.py Rdata.rdb packages/interp-components/src/interp_components/toy`.

Two stages, as a mixture from the start learns neither circuit in this time. First repeats of random tokens, over few
different tokens and then over all, until previous-token and induction heads have formed. Then half prose, and repeats
and sentences in the rest. About twenty minutes of one core. Each stage starts from what is stored, so that it can be repeated
alone: `--stage 2` goes on with the model in the folder.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from pathlib import Path
from typing import Any

import torch
from measure import induction_accuracy, stored
from muon import Muon
from novels import novels
from rows import Rows, join, packed, prose, repeats
from tokenizers import Tokenizer
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim import AdamW
from transformers import GPT2Config, GPT2LMHeadModel
from vocabulary import SIZE, for_transformers, vocabulary

LENGTH = 128
FEW = 512
RATES = (0.01, 0.001)
"""Of Muon for the matrices of the blocks, and of Adam for embeddings, norms and biases."""


class Course:
    """A model in training, and what it is trained with."""

    def __init__(self, model: GPT2LMHeadModel, seed: int) -> None:
        """Begin with a model that knows nothing, or what it learned in the stage before."""
        self.generator = torch.Generator().manual_seed(seed)
        self.chance = random.Random(seed)
        self.model = model
        inside = {weight for weight in self.model.transformer.h.parameters() if weight.ndim == 2}
        others = [weight for weight in self.model.parameters() if weight not in inside]
        self.muon = Muon(inside)
        self.adam = AdamW(others, betas=(0.9, 0.95), weight_decay=0.0)
        self.steps = 0
        self.began = time.process_time()

    def step(self, rows: Rows, pace: float = 1.0) -> float:
        """Learn from some rows once, at a share of the full rates; the weighted loss in nats."""
        logits = self.model(rows.ids).logits[:, :-1]
        weights = rows.weights[:, 1:]
        losses = cross_entropy(logits.transpose(1, 2), rows.ids[:, 1:], reduction="none")
        loss = (losses * weights).sum() / weights.sum()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        share = pace * min(1.0, (self.steps + 1) / 20)
        self.muon.step(RATES[0] * share)
        self.adam.param_groups[0]["lr"] = RATES[1] * share
        self.adam.step()
        self.model.zero_grad()
        self.steps += 1
        return loss.item()

    def report(self, what: str, loss: float, accuracy: float) -> None:
        """Say how far it is; a step takes a good half second of one core."""
        spent = time.process_time() - self.began
        print(f"{what}: step {self.steps}, loss {loss:.2f}, induction {accuracy:.3f}, {spent:.0f} s", flush=True)


def config() -> GPT2Config:
    """Four layers of four heads."""
    # Any: the types of the arguments of a config are those of its fields.
    shape: dict[str, Any] = {"n_embd": 128, "n_layer": 4, "n_head": 4, "n_positions": LENGTH, "vocab_size": SIZE}
    ends: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    still: dict[str, Any] = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    # The function of GPT-2's activation in one kernel, a sixth faster.
    return GPT2Config(**shape, **ends, **still, initializer_range=0.05, activation_function="gelu_pytorch_tanh")


def learn_to_repeat(course: Course) -> None:
    """Stage one: until the repetition of any tokens is predicted."""
    for alphabet in (FEW, SIZE):
        accuracy = 0.0
        while accuracy < 0.9:
            loss = course.step(repeats(course.generator, 48, 64, alphabet, (10, 32)))
            if course.steps % 25 == 0:
                accuracy = induction_accuracy(course.model, alphabet)
                course.report(f"repeats of {alphabet} tokens", loss, accuracy)


def learn_to_read(course: Course, tokenizer: Tokenizer, tokens: torch.Tensor, steps: int, folder: Path) -> None:
    """Stage two: prose, sentences and repeats, at a pace that falls to a twentieth."""
    for done in range(steps):
        rows = join(
            prose(course.generator, tokens, 11, LENGTH),
            packed(course.chance, tokenizer, 10, LENGTH),
            repeats(course.generator, 3, LENGTH, SIZE, (4, 64)),
        )
        loss = course.step(rows, 1 - 0.95 * done / steps)
        if course.steps % 50 == 0:
            course.report("mixture", loss, induction_accuracy(course.model))
            store(course.model, tokenizer, folder)


def store(model: GPT2LMHeadModel, tokenizer: Tokenizer, folder: Path) -> None:
    """Write the model in half precision, and its tokenizer."""
    halved = copy.deepcopy(model)
    nn.Module.to(halved, torch.float16)
    halved.save_pretrained(folder)
    for_transformers(tokenizer).save_pretrained(folder)


def main() -> None:
    """Read the command line, train, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("novels", type=Path, help="Rdata.rdb of the R package janeaustenr")
    parser.add_argument("folder", type=Path, help="where the model is written, every fifty steps")
    parser.add_argument("--stage", type=int, choices=(1, 2), help="one stage alone")
    parser.add_argument("--steps", type=int, default=800, help="steps of the second stage")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    text = novels(asked.novels)
    tokenizer = vocabulary(text)
    tokens = torch.tensor([token for novel in tokenizer.encode_batch(text) for token in novel.ids])
    print(f"{len(tokens)} tokens of prose", flush=True)
    if asked.stage != 2:
        torch.manual_seed(asked.seed)
        course = Course(GPT2LMHeadModel(config()), asked.seed)
        learn_to_repeat(course)
        store(course.model, tokenizer, asked.folder)
    if asked.stage != 1:
        course = Course(stored(asked.folder)[0], asked.seed + 1)
        learn_to_read(course, tokenizer, tokens, asked.steps, asked.folder)
        store(course.model, tokenizer, asked.folder)


if __name__ == "__main__":
    main()

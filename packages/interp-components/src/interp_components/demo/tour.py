"""One look inside a model, from what it says next to the heads that say it."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from interp_components.demo import experiments, text
from interp_components.demo.findings import Findings, Removal
from interp_components.model import StandardizedTransformer

REPEATED = "The wizard Zorblax met a dragon. The wizard Zorblax met a"


@torch.no_grad()
def look_inside(
    model: StandardizedTransformer, name: str, prompt: str, repeated: str, say: Callable[[str], object]
) -> Findings:
    """Run all experiments; what is found is said as soon as it is there.

    Args:
        model: The model, loaded with eager attention.
        name: What the model is called.
        prompt: A text whose next token is predicted.
        repeated: A text that begins to repeat itself.
        say: What is called with each part of the text.
    """
    began = time.perf_counter()
    say(text.opening(model))

    guesses = experiments.next_tokens(model, prompt)
    say(text.guesses(prompt, guesses))
    lens = experiments.lens(model, prompt)
    say(text.lens(lens))

    ids = experiments.repetition(model)
    scores = experiments.head_scores(model, ids)
    induction, previous = experiments.strongest(scores.induction, 3), experiments.strongest(scores.previous, 1)
    say(text.heads(scores, induction, previous))
    pictures = experiments.pictures(model, repeated, [*induction[:1], *previous])
    say(text.attention(pictures[0]))

    others = experiments.bystanders(scores.induction, induction)
    removals = [
        Removal("the model as it is", (), experiments.continued(model, ids)),
        Removal(
            "without the strongest induction head", induction[:1], experiments.continued(model, ids, induction[:1])
        ),
        Removal("without three induction heads", induction, experiments.continued(model, ids, induction)),
        Removal("without as many others of these layers", others, experiments.continued(model, ids, others)),
    ]
    say(text.removals(removals))
    say(f"\n{time.perf_counter() - began:.0f} s in all.")
    return Findings(name, prompt, guesses, lens, scores, pictures, removals)

"""`interp demo`: what is inside a small trained model, told as it is found."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from interp_components.cli.answers import Answer
from interp_components.cli.models import opened
from interp_components.demo import page, subjects, tour
from interp_components.demo.findings import Findings


def answer(asked: Namespace) -> Answer:
    """What `look_inside` finds in the model that is asked for, or in the best at hand."""
    say = _silence if asked.json else partial(print, flush=True)
    subject = subjects.subject(asked.model)
    if asked.model is None and subject.source == "toy":
        say(f"For a larger model that was trained on much more text: {subjects.HOW_TO_INSTALL}\n")
    name = Path(subject.source).name
    say(f"Loading {name} ...")
    asked.model = subject.source
    model = opened(asked, attn_implementation="eager", dtype=torch.float32)
    prompt, repeated = asked.prompt or subject.prompt, asked.repeated or tour.REPEATED
    found = tour.look_inside(model, name, prompt, repeated, say)
    return Answer(f"Inside {name}", _facts(found), page=page.page(found))


def _silence(text: str) -> None:
    """Say nothing: what is printed is one JSON document."""


def _facts(found: Findings) -> dict[str, Any]:
    """The findings for programs."""
    previous, induction = found.scores.previous.tolist(), found.scores.induction.tolist()
    return {
        "prompt": found.prompt,
        "guesses": [guess._asdict() for guess in found.guesses],
        "lens": {
            "tokens": found.lens.tokens,
            "answer": found.lens.answer,
            "layers": [
                {"layer": number, "guesses": [guess._asdict() for guess in guesses], "rank": rank + 1}
                for number, (guesses, rank) in enumerate(zip(found.lens.layers, found.lens.ranks, strict=True))
            ],
        },
        "heads": [
            {"layer": layer, "head": head, "previous": previous[layer][head], "induction": induction[layer][head]}
            for layer in range(len(previous))
            for head in range(len(previous[layer]))
        ],
        "removals": [
            {"what": removal.what, "heads": list(map(str, removal.heads)), **removal.left._asdict()}
            for removal in found.removals
        ],
    }

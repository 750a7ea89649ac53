"""The card of the toy model: `python tooling/toy/card.py packages/interp-components/src/interp_components/toy`.

Measures the model in the folder, and writes its README.md there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measure import measure, stored
from sentences import ACTIONS, HELD_OUT_ACTIONS, HELD_OUT_NAMES, HELD_OUT_OPENINGS, NAMES, OPENINGS

CARD = """\
---
license: mit
library_name: transformers
---

# The toy model

A GPT-2 of {layers} layers of {heads} heads, {width} wide, with {millions:.2f} million parameters in half precision.
It comes with interp-components so that there is something real to look into without a download:
`StandardizedTransformer("toy")`.

It is a model organism, not a language model.
Two things were trained into it, each with a known mechanism:

- **It continues repetitions.** Heads of the first layer look at the token before; heads of the second find what followed
  this token the last time. Without the former, the latter have nothing to find.
- **It names the other one.** In "When Mary and John went to the shop, John gave a ring to" it says " Mary".

Beyond that it writes prose that is English for a few words at a time, knows nothing about the world, and knows only the
{names} names it was trained with. A prompt has at most {positions} tokens.

## Measured

| | |
|---|---|
{figures}

*Induction accuracy* is the share of right predictions from the second round on of random tokens that repeat.
"Without" some heads means that their outputs are zero.
A sentence's answer is *first* when no other token is likelier, and *before the repeated* when it is likelier than the
other name; 200 sentences each.
Held-out names, openings and actions never occurred in a sentence of this kind in training; held-out names did occur in
sentences with one name.

## Trained

By `tooling/toy/train.py` with its defaults, on random repetitions, on {openings} openings and {actions} actions of
sentences with two of {trained_names} names, and on six novels by Jane Austen, which are out of copyright.
{held_out_openings} openings, {held_out_actions} actions and {held_out_names} names were held out.
"""


def card(folder: Path) -> str:
    """The card of the model in a folder."""
    model, tokenizer = stored(folder)
    figures = measure(model, tokenizer)
    rows = (
        f"| {what} | {value if isinstance(value, str) else format(value, '.3f')} |" for what, value in figures.items()
    )
    return CARD.format(
        layers=model.config.n_layer,
        heads=model.config.n_head,
        width=model.config.n_embd,
        positions=model.config.n_positions,
        millions=sum(weight.numel() for weight in model.parameters()) / 1e6,
        names=len(NAMES) + len(HELD_OUT_NAMES),
        trained_names=len(NAMES),
        held_out_names=len(HELD_OUT_NAMES),
        openings=len(OPENINGS),
        actions=len(ACTIONS),
        held_out_openings=len(HELD_OUT_OPENINGS),
        held_out_actions=len(HELD_OUT_ACTIONS),
        figures="\n".join(rows),
    )


if __name__ == "__main__":
    target = Path(sys.argv[1])
    (target / "README.md").write_text(card(target), encoding="utf-8")

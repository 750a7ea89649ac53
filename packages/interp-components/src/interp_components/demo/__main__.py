"""The demo as a program."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import torch

from interp_components.demo import experiments, page, subjects, text
from interp_components.demo.findings import Findings, Removal
from interp_components.errors import InterpError
from interp_components.model import StandardizedTransformer

REPEATED = "The wizard Zorblax met a dragon. The wizard Zorblax met a"


def main(arguments: list[str] | None = None) -> int:
    """Run the experiments, print what they found, and write it to one HTML file."""
    asked = _parser().parse_args(arguments)
    chosen = subjects.subject(asked.model)
    if chosen.source == "toy" and asked.model is None:
        print(f"For a larger model that was trained on much more text: {subjects.HOW_TO_INSTALL}\n")
    try:
        with torch.no_grad():
            found = look_inside(chosen.source, asked.prompt or chosen.prompt, asked.repeated)
    except InterpError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    asked.html.write_text(page.page(found), encoding="utf-8")
    print(f"\nAll of it, with every layer and token, is in {asked.html}: open it in a browser.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m interp_components.demo", description="Look inside a language model.")
    parser.add_argument("--model", help="a name on the hub, a folder, a .gguf file, or toy")
    parser.add_argument("--prompt", help="a text whose next token is predicted")
    parser.add_argument("--repeated", default=REPEATED, help="a text that begins to repeat itself")
    parser.add_argument("--html", type=Path, default=Path("inside.html"), help="where the page is written")
    return parser


def look_inside(source: str, prompt: str, repeated: str) -> Findings:
    """Run all experiments; what is found is printed as soon as it is there."""
    began = time.perf_counter()
    print(f"Loading {Path(source).name} ...", flush=True)
    model = StandardizedTransformer(source, attn_implementation="eager", dtype=torch.float32, dispatch=True)
    print(text.opening(model), flush=True)

    guesses = experiments.next_tokens(model, prompt)
    print(text.guesses(prompt, guesses), flush=True)
    lens = experiments.lens(model, prompt)
    print(text.lens(lens), flush=True)

    ids = experiments.repetition(model)
    scores = experiments.head_scores(model, ids)
    induction, previous = experiments.strongest(scores.induction, 3), experiments.strongest(scores.previous, 1)
    print(text.heads(scores, induction, previous), flush=True)
    pictures = experiments.pictures(model, repeated, [*induction[:1], *previous])
    print(text.attention(pictures[0]), flush=True)

    others = experiments.bystanders(scores.induction, induction)
    removals = [
        Removal("the model as it is", (), experiments.continued(model, ids)),
        Removal(
            "without the strongest induction head", induction[:1], experiments.continued(model, ids, induction[:1])
        ),
        Removal("without three induction heads", induction, experiments.continued(model, ids, induction)),
        Removal("without as many others of these layers", others, experiments.continued(model, ids, others)),
    ]
    print(text.removals(removals), flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s in all.")
    return Findings(Path(source).name, prompt, guesses, lens, scores, pictures, removals)


if __name__ == "__main__":
    sys.exit(main())

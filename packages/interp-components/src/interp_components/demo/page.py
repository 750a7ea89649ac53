"""The findings of the demo as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from torch import Tensor

from interp_components.demo.experiments import Guess, Lens
from interp_components.demo.findings import Findings, Removal
from interp_components.demo.markup import cell, document, picture, shown, table, wide


def page(found: Findings) -> str:
    """The whole page."""
    answer = escape(repr(found.lens.answer))
    sections = [
        f"<h1>Inside {escape(found.model)}</h1>",
        f"<h2>What comes next?</h2><p><code>{escape(found.prompt)}</code></p>{_guesses(found.guesses)}",
        f"<h2>When does it know?</h2><p>The residual stream after each layer, read as if it were the last: the best guess at "
        f"every position. Darker is surer. On the right, how many tokens stand before {answer}.</p>{_lens(found.lens)}",
        "<h2>Who notices a repetition?</h2><p>Heads on random tokens that come twice: how much each attends to what followed "
        "this token the first time, and to the token just before.</p><div class='pictures'>"
        f"{_heads('induction', found.scores.induction)}{_heads('previous token', found.scores.previous)}</div>",
        "<h2>What they look at</h2><p>From each token (row) to those before it (columns).</p>"
        f"<div class='pictures'>{''.join(map(picture, found.pictures))}</div>",
        f"<h2>What they are for</h2><p>The second round of the random tokens, predicted.</p>{_removals(found.removals)}",
    ]
    return document(f"Inside {found.model}", sections)


def _guesses(found: Sequence[Guess]) -> str:
    rows = (
        f"<th class='row'>{escape(shown(g.text))}</th><td>{g.probability:.1%}</td>{wide(g.probability)}" for g in found
    )
    return table(rows)


def _lens(found: Lens) -> str:
    head = f"<tr><th></th>{''.join(f'<th>{escape(shown(token))}</th>' for token in found.tokens)}<th>before</th></tr>"
    rows = []
    for number, (guesses, rank) in reversed(list(enumerate(zip(found.layers, found.ranks, strict=True)))):
        cells = "".join(
            cell(guess.probability, shown(guess.text), f"{guess.probability:.1%}", "text") for guess in guesses
        )
        rows.append(f"<th class='row'>layer {number}</th>{cells}<th>{rank}</th>")
    return table(rows, head)


def _heads(title: str, scores: Tensor) -> str:
    rows = [
        f"<th class='row'>{layer}</th>"
        + "".join(cell(share, title=f"L{layer}H{head}: {share:.2f}") for head, share in enumerate(row))
        for layer, row in enumerate(scores.tolist())
    ]
    return f"<div><p>{title}: layers down, heads across</p>{table(rows)}</div>"


def _removals(found: Sequence[Removal]) -> str:
    rows = (
        f"<th class='row'>{escape(removal.what)}</th><th>{', '.join(map(str, removal.heads))}</th>"
        f"<td>{removal.left.accuracy:.0%}</td>{wide(removal.left.accuracy)}<th>loss {removal.left.loss:.2f}</th>"
        for removal in found
    )
    return table(rows)

"""The findings of the demo as one HTML page that needs nothing else: no network, no script.

Every text that comes from a tokenizer or from the command line passes through `escape`, so that a prompt that holds
markup is shown as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from torch import Tensor

from interp_components.demo.experiments import Guess, Lens, Picture
from interp_components.demo.findings import Findings, Removal

STYLE = """
:root { color-scheme: light dark; --ink: 37, 99, 200; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } p { max-width: 44rem; }
code, td, th { font: 12px/1.3 ui-monospace, monospace; } code { white-space: pre-wrap; }
.scroll { overflow-x: auto; } table { border-collapse: separate; border-spacing: 1px; }
td, th { padding: 2px 6px; text-align: left; font-weight: normal; white-space: pre; }
td.cell { padding: 0; width: 15px; height: 15px; min-width: 15px; }
td, .bar { background: rgba(var(--ink), calc(var(--share, 0) * .85)); } .bar { --share: .8; height: 1em; display: block; }
th.up { writing-mode: vertical-rl; transform: rotate(180deg); padding: 6px 1px; } th.row { text-align: right; }
.pictures { display: flex; flex-wrap: wrap; gap: 2rem; }
"""


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
        f"<div class='pictures'>{''.join(map(_picture, found.pictures))}</div>",
        f"<h2>What they are for</h2><p>The second round of the random tokens, predicted.</p>{_removals(found.removals)}",
    ]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>Inside {escape(found.model)}</title><style>{STYLE}</style></head><body>{''.join(sections)}</body></html>\n"
    )


def _table(rows: Iterable[str], head: str = "") -> str:
    return f"<div class='scroll'><table>{head}{''.join(f'<tr>{row}</tr>' for row in rows)}</table></div>"


def _cell(share: float, text: str = "", title: str = "") -> str:
    """One square: as dark as `share`, with a text in it, or with one that shows on hover."""
    kind = "" if text else " class='cell'"
    hover = f" title='{escape(title)}'" if title else ""
    return f"<td{kind}{hover} style='--share:{share:.3f}'>{escape(text)}</td>"


def _wide(share: float) -> str:
    return f"<td style='width:16rem'><span class='bar' style='width:{share:.1%}'></span></td>"


def _up(tokens: Sequence[str]) -> str:
    """The tokens over the columns, from bottom to top."""
    return f"<tr><th></th>{''.join(f'<th class=up>{escape(shown(token))}</th>' for token in tokens)}</tr>"


def _guesses(found: Sequence[Guess]) -> str:
    rows = (
        f"<th class='row'>{escape(shown(g.text))}</th><td>{g.probability:.1%}</td>{_wide(g.probability)}" for g in found
    )
    return _table(rows)


def _lens(found: Lens) -> str:
    head = f"<tr><th></th>{''.join(f'<th>{escape(shown(token))}</th>' for token in found.tokens)}<th>before</th></tr>"
    rows = []
    for number, (guesses, rank) in reversed(list(enumerate(zip(found.layers, found.ranks, strict=True)))):
        cells = "".join(_cell(guess.probability, shown(guess.text), f"{guess.probability:.1%}") for guess in guesses)
        rows.append(f"<th class='row'>layer {number}</th>{cells}<th>{rank}</th>")
    return _table(rows, head)


def _heads(title: str, scores: Tensor) -> str:
    rows = [
        f"<th class='row'>{layer}</th>"
        + "".join(_cell(share, title=f"L{layer}H{head}: {share:.2f}") for head, share in enumerate(row))
        for layer, row in enumerate(scores.tolist())
    ]
    return f"<div><p>{title}: layers down, heads across</p>{_table(rows)}</div>"


def _picture(found: Picture) -> str:
    rows = []
    for place, row in enumerate(found.pattern.tolist()):
        cells = "".join(_cell(share, title=f"{shown(found.tokens[key])}: {share:.1%}") for key, share in enumerate(row))
        rows.append(f"<th class='row'>{escape(shown(found.tokens[place]))}</th>{cells}")
    return f"<div><p>{found.head}</p>{_table(rows, _up(found.tokens))}</div>"


def _removals(found: Sequence[Removal]) -> str:
    rows = (
        f"<th class='row'>{escape(removal.what)}</th><th>{', '.join(map(str, removal.heads))}</th>"
        f"<td>{removal.left.accuracy:.0%}</td>{_wide(removal.left.accuracy)}<th>loss {removal.left.loss:.2f}</th>"
        for removal in found
    )
    return _table(rows)


def shown(token: str) -> str:
    """A token in which spaces and line ends can be seen."""
    return token.replace(" ", "·").replace("\n", "⏎").replace("\t", "→")

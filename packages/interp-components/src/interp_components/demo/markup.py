"""The parts of an HTML page that needs nothing else: no network, no script.

Every text that comes from a tokenizer or from the command line passes through `escape`, so that a prompt that holds
markup is shown as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from interp_components.demo.experiments import Picture

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
td.good { color: #2a8a3e; } td.bad { color: #d03030; } td.faint { opacity: .65; } td.label { color: rgb(var(--ink)); }
.pictures { display: flex; flex-wrap: wrap; gap: 2rem; }
"""


def document(title: str, sections: Iterable[str]) -> str:
    """The whole page: a title, which is text, and sections, which are HTML."""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>{''.join(sections)}</body></html>\n"
    )


def table(rows: Iterable[str], head: str = "") -> str:
    """Rows of cells, below what stands over the columns."""
    return f"<div class='scroll'><table>{head}{''.join(f'<tr>{row}</tr>' for row in rows)}</table></div>"


def cell(share: float, text: str = "", title: str = "", kind: str = "cell") -> str:
    """One cell: as dark as `share`, with a text in it, or with one that shows on hover; a small square by itself."""
    hover = f" title='{escape(title)}'" if title else ""
    return f"<td class='{kind}'{hover} style='--share:{share:.3f}'>{escape(text)}</td>"


def wide(share: float) -> str:
    """A bar as long as `share`."""
    return f"<td style='width:16rem'><span class='bar' style='width:{share:.1%}'></span></td>"


def _up(tokens: Sequence[str]) -> str:
    """The tokens over the columns, from bottom to top."""
    return f"<tr><th></th>{''.join(f'<th class=up>{escape(shown(token))}</th>' for token in tokens)}</tr>"


def picture(found: Picture) -> str:
    """What one head attends to, from each token (row) to those before it."""
    rows = []
    for place, row in enumerate(found.pattern.tolist()):
        cells = "".join(cell(share, title=f"{shown(found.tokens[key])}: {share:.1%}") for key, share in enumerate(row))
        rows.append(f"<th class='row'>{escape(shown(found.tokens[place]))}</th>{cells}")
    return f"<div><p>{found.head}</p>{table(rows, _up(found.tokens))}</div>"


def shown(token: str) -> str:
    """A token in which spaces and line ends can be seen, and nothing that a terminal would obey."""
    marked = token.translate(_MARKS)
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in marked)


_MARKS = str.maketrans({" ": "·", "\n": "⏎", "\t": "→"})

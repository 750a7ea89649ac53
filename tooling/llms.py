"""`llms.txt` at the root of the site: its pages, a line each, for programs that read them in place of people.

The form is that of llmstxt.org. `llms-full.txt` beside it holds the text of all pages, as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from navigation import Entry, navigation

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

COMMENT = re.compile(r"<!---?.*?-->\n*", re.DOTALL)


def title(text: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    return found[1] if found else ""


def summary(text: str) -> str:
    """The first line of prose of a page; empty where it has none."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in prose.splitlines() if re.match(r"[A-Za-z`*]", line)]
    return lines[0] if lines else ""


def address(page: str) -> str:
    """Where a page is on the site, below its root."""
    below = page.removesuffix(".md").removesuffix("index").rstrip("/")
    return f"{below}/" if below else ""


def sections(docs: Path) -> Iterator[tuple[str, list[str]]]:
    """Each section of the navigation with its pages."""
    for entry in navigation(docs):
        yield from _pages(entry)


def _pages(entry: Entry) -> Iterator[tuple[str, list[str]]]:
    if isinstance(entry, str):
        yield "", [entry]
        return
    for name, content in entry.items():
        yield name, [content] if isinstance(content, str) else content


def overview(docs: Path, name: str, description: str, root: str) -> str:
    """The text of `llms.txt`."""
    parts = [f"# {name}\n\n> {description}\n"]
    for section, pages in sections(docs):
        parts.append(f"\n## {section or title((docs / pages[0]).read_text())}\n\n")
        for page in pages:
            text = (docs / page).read_text()
            about = summary(text)
            parts.append(f"- [{title(text)}]({root}{address(page)})" + (f": {about}\n" if about else "\n"))
    return "".join(parts)


def everything(docs: Path) -> str:
    """The text of `llms-full.txt`; what a page hides from its readers is left out."""
    pages = [page for _, pages in sections(docs) for page in pages]
    return "\n".join(COMMENT.sub("", (docs / page).read_text()) for page in pages)


def on_post_build(config: MkDocsConfig) -> None:
    """Called by mkdocs when the site is built."""
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    text = overview(docs, config.site_name, config.site_description or "", config.site_url or "/")
    (site / "llms.txt").write_text(text)
    (site / "llms-full.txt").write_text(everything(docs))

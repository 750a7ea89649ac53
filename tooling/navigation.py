"""The navigation of the site: sections in the order in which they are read, pages as they are found.

mkdocs would sort the sections by name; a list written by hand would be a second place to name every page.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

# Folder or page under docs/, and what it is called. What is not named here comes after, under its own name.
SECTIONS = {
    "index.md": "Start",
    "interp-components": "interp-components",
    "tutorial.md": "Tutorial",
    "how-to": "How to",
    "concepts": "Concepts",
    "tracer-core": "tracer-core",
    "reference": "Reference",
    "errors.md": "Errors",
    "compatibility.md": "Compatibility",
    "performance.md": "Performance",
}
Entry = str | dict[str, "str | list[str]"]


def pages(folder: Path, docs: Path) -> list[str]:
    """The pages of a section: its index first, then by name."""
    found = [path.relative_to(docs).as_posix() for path in folder.rglob("*.md")]
    return sorted(found, key=lambda page: (not page.endswith("/index.md"), page))


def navigation(docs: Path) -> list[Entry]:
    """The entries of the navigation for what `docs` holds."""
    there = {
        path.name for path in docs.iterdir() if path.suffix == ".md" or (path.is_dir() and any(path.rglob("*.md")))
    }
    names = [name for name in SECTIONS if name in there] + sorted(there - set(SECTIONS))
    entries: list[Entry] = []
    for name in names:
        title = SECTIONS.get(name)
        content = name if name.endswith(".md") else pages(docs / name, docs)
        # A page without a title here takes its own; a folder has none, so its name stands in.
        entries.append({title or name: content} if title or isinstance(content, list) else name)
    return entries


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Called by mkdocs before it looks for pages."""
    config.nav = navigation(Path(config.docs_dir))
    return config

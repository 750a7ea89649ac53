"""The two packages of this tree: where each keeps its version, its changelog and its licence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r'^__version__ = "(\d+\.\d+\.\d+)"$', re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """One published package; `short` is what its nox sessions and commit scopes are called by."""

    name: str
    short: str
    root: Path = ROOT

    @property
    def folder(self) -> Path:
        """`packages/<name>`."""
        return self.root / "packages" / self.name

    @property
    def import_name(self) -> str:
        """What a user imports."""
        return self.name.replace("-", "_")

    @property
    def changelog(self) -> Path:
        """The package's own changelog."""
        return self.folder / "CHANGELOG.md"

    @property
    def version_file(self) -> Path:
        """The one file that says the version."""
        return self.folder / "src" / self.import_name / "_version.py"

    @property
    def version(self) -> str:
        """The version as the tree says it, `x.y.z`."""
        found = VERSION.search(self.version_file.read_text(encoding="utf-8"))
        if found is None:
            raise SystemExit(f'{self.version_file}: no line `__version__ = "x.y.z"`')
        return found[1]


PACKAGES = (Package("tracer-core", "core"), Package("interp-components", "components"))


def named(name: str) -> Package:
    """The package called `name`."""
    for package in PACKAGES:
        if package.name == name:
            return package
    raise SystemExit(f"no package {name!r}; there are {', '.join(package.name for package in PACKAGES)}")

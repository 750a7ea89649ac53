"""A package that exists only in a temporary folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from projects import Package


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """`some-thing`, never released, at version 0.1.0."""
    package = Package("some-thing", "thing", tmp_path)
    package.version_file.parent.mkdir(parents=True)
    package.version_file.write_text('"""The version."""\n\n__version__ = "0.1.0"\n')
    package.changelog.write_text("# Changelog\n\n## Unreleased\n")
    return package

"""What the programs know of the two packages."""

from __future__ import annotations

import pytest

import projects
from projects import Package


@pytest.mark.parametrize("package", projects.PACKAGES, ids=lambda package: package.name)
def test_a_package_is_where_it_says(package: Package) -> None:
    """Folder, changelog and version file exist under the names derived from the package's."""
    assert (package.changelog.is_file(), package.version_file.is_file()) == (True, True)


def test_a_package_is_found_by_name() -> None:
    """`named` gives the package itself."""
    assert projects.named("tracer-core") is projects.PACKAGES[0]


def test_an_unknown_package_is_named_with_those_there_are() -> None:
    """The way out of a wrong name is in the message."""
    with pytest.raises(SystemExit, match="no package 'core'; there are tracer-core, interp-components"):
        projects.named("core")


def test_a_version_file_without_a_version_is_named(package: Package) -> None:
    """A version that cannot be read is an error that names the file."""
    package.version_file.write_text("")

    with pytest.raises(SystemExit, match=r"_version\.py: no line"):
        _ = package.version

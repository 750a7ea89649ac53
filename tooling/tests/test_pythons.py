"""Which Pythons are asked for, and where they come from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import debian
import pythons

INSTALLED = ["2.7.18", "3.10.9", "3.10.13", "3.11.7", "3.13.0", "3.13-dev", "pypy3.10-7.3.12"]


def test_the_newest_release_of_each_version_is_chosen() -> None:
    """Releases compare as numbers; what is no release of CPython is left out, and what is absent stays absent."""
    assert pythons.newest_first(INSTALLED, ["3.10", "3.12", "3.13"]) == ["3.10.13", "3.13.0"]


def test_a_command_that_is_there_but_fails_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shim for a version that is not selected is on PATH and exits with an error."""
    shim = tmp_path / "python3.10"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert not pythons.answers("3.10")


def test_what_cannot_be_brought_is_missing_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is what a person reads at the end of a check."""

    def refuse(versions: list[str], folder: Path) -> None:
        raise debian.NotHere("no archive")

    monkeypatch.setattr(pythons, "expose", lambda: None)
    monkeypatch.setattr(pythons, "answers", lambda version: version != "3.15")
    monkeypatch.setattr(debian, "unpack", refuse)

    assert pythons.bring() == {"3.15": "no archive"}


@pytest.mark.parametrize(
    "configured",
    [
        pytest.param("Types: deb\nURIs: http://mirror.example/debian\nSuites: stable\n", id="deb822"),
        pytest.param("deb http://mirror.example/debian stable main\n", id="one line"),
        pytest.param("deb [arch=amd64] http://mirror.example/debian/ stable main\n", id="one line with options"),
        pytest.param(
            "# deb http://old.example/debian x\ndeb http://mirror.example/debian stable main\n", id="a comment"
        ),
        pytest.param(
            "URIs: http://other.example/apt\nURIs: http://mirror.example/debian\n", id="after another archive"
        ),
    ],
)
def test_the_archive_is_found_in_what_apt_is_told(configured: str) -> None:
    """Both formats of apt's configuration name the archive."""
    assert debian.archive(configured) == "http://mirror.example/debian"


def test_a_machine_without_a_debian_archive_has_none() -> None:
    """An archive of something else, or the one for security fixes, has no new Pythons."""
    assert (
        debian.archive("URIs: http://mirror.example/debian-security\ndeb http://mirror.example/ubuntu x main\n") is None
    )


def test_a_failing_command_gives_its_own_last_words() -> None:
    """What a program complains about is the reason that is passed on."""
    with pytest.raises(debian.NotHere, match="sh failed: second"):
        debian.run("sh", "-c", "echo first >&2; echo second >&2; exit 3")

"""What a change needs to have run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import changed

EVERYTHING = {"core", "components", "docs"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("packages/tracer-core/src/tracer_core/source.py", EVERYTHING, id="core's source"),
        pytest.param("packages/tracer-core/pyproject.toml", EVERYTHING, id="core's settings"),
        pytest.param("packages/tracer-core/tests/test_source.py", {"core"}, id="core's tests"),
        pytest.param(
            "packages/interp-components/src/interp_components/keys.py", {"components", "docs"}, id="components"
        ),
        pytest.param("packages/interp-components/tests/test_keys.py", {"components"}, id="components' tests"),
        pytest.param("docs/index.md", {"docs"}, id="a page"),
        pytest.param("CONTRIBUTING.md", set(), id="a page that no job reads"),
        pytest.param("noxfile.py", EVERYTHING, id="the frame"),
        pytest.param("packages/third/README.md", EVERYTHING, id="what nobody has placed"),
    ],
)
def test_a_path_needs_its_jobs(path: str, expected: set[str]) -> None:
    """The first prefix that fits decides, and what none fits needs everything."""
    assert changed.needed([path]) == expected


def test_several_paths_need_the_jobs_of_each() -> None:
    """A change needs what any of its files needs."""
    assert changed.needed(["docs/index.md", "packages/tracer-core/tests/test_x.py"]) == {"core", "docs"}


def test_a_change_is_what_differs_since_the_branch_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the base got since then is not part of the change; a moved file counts at both of its places."""

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-m", name)

    git("init", "--initial-branch", "main")
    commit("old name")
    git("checkout", "-b", "topic")
    git("mv", "old name", "new name")
    git("commit", "-m", "move")
    git("checkout", "main")
    commit("elsewhere")
    git("checkout", "topic")
    monkeypatch.chdir(tmp_path)

    assert sorted(changed.differing("main")) == ["new name", "old name"]

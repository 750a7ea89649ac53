"""The gate: what it shows, and with which code it ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import check

SESSIONS = """
import nox

@nox.session(venv_backend="none")
def good(session):
    session.run("echo", "===== 3 passed in 0.10s =====", external=True)

@nox.session(venv_backend="none")
def bad(session):
    session.run("false", external=True)
"""


@pytest.fixture
def sessions(tmp_path: Path) -> str:
    """A noxfile with a session that passes and one that fails."""
    noxfile = tmp_path / "noxfile.py"
    noxfile.write_text(SESSIONS)
    return str(noxfile)


def test_a_failing_session_is_a_failure_of_the_gate(sessions: str) -> None:
    """nox's exit code is handed on, whatever else passed."""
    code, _ = check.run_nox(
        Path(sys.executable), "-f", sessions, "-j", "2", "--allow-parallel", "--no-stop-on-first-error"
    )

    assert code != 0


def test_the_closing_line_of_a_test_run_is_kept_with_its_session(sessions: str) -> None:
    """So that it can be shown again at the end of a long output."""
    found = check.run_nox(Path(sys.executable), "-f", sessions, "-j", "2", "--allow-parallel", "-s", "good")

    assert found == (0, ["good\n===== 3 passed in 0.10s ====="])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("==== 3 passed in 0.10s ====", True, id="passed"),
        pytest.param("==== 1 failed, 3 passed, 2 skipped in 70.10s (0:01:10) ====", True, id="failed"),
        pytest.param("==== 1 error in 0.10s ====", True, id="error"),
        pytest.param("==== short test summary info ====", False, id="a heading"),
        pytest.param("2 passed in 0.1s, says the test", False, id="a test's own words"),
    ],
)
def test_a_closing_line_is_recognized(line: str, expected: bool) -> None:
    """A line of pytest's between two rules that counts and times."""
    assert bool(check.CLOSING.match(line)) is expected

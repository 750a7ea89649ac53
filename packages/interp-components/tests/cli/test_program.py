"""The program around the commands: exit codes, streams, errors."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from transformers.utils import logging

from interp_components.cli import program
from interp_components.cli.answers import Answer

from .ran import Interp

PROGRAM = [sys.executable, "-m", "interp_components"]


def test_questions_about_itself_are_answered_without_torch() -> None:
    """Torch takes seconds; that the modules of the commands do import it shows that this can be seen."""
    program = (
        "import sys; from interp_components.cli import main\n"
        "for asked in ['--help'], ['--version'], ['lens', 'toy'], []:\n"
        "    try: main(asked)\n"
        "    except SystemExit: pass\n"
        "before = 'torch' in sys.modules; import interp_components.cli.lens\n"
        "print(before, 'torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines()[-1] == "False True"


def test_the_package_is_the_program() -> None:
    """`python -m interp_components` answers as `interp` does; piped, it says nothing besides."""
    ran = subprocess.run([*PROGRAM, "lens", "toy", "Emma went to"], capture_output=True, text=True, check=True)

    assert ran.stdout.startswith("toy: 'Emma went to', 3 tokens\n")
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="a pipe that nobody reads is told by another error there")
def test_a_reader_that_has_read_enough_is_no_error() -> None:
    """As in `interp tree toy | head`: nothing is said, and the exit code is that of a closed pipe."""
    process = subprocess.Popen([*PROGRAM, "tree", "toy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None

    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == program.UNREAD


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tree", "./nowhere"], "there is no folder './nowhere'"),
        (["tree", "nowhere.gguf"], "there is no file 'nowhere.gguf'"),
        (["lens", "someone/nothing", "a"], "'someone/nothing' is not in the local cache"),
        (["lens", "toy", ""], "the text '' has no tokens"),
        (["lens", "toy", "a " * 200], "this model has embeddings for 128 positions"),
        (["attention", "toy", "a b", "--layer", "7"], "--layer 7 is no layer of a model with 4, 0 to 3"),
        (["source", "toy", "layers.0.mpl"], "did you mean 'mlp'"),
    ],
    ids=["folder", "file", "hub", "no-tokens", "too-long", "layer", "module"],
)
def test_a_mistake_is_one_line_and_exit_code_2(interp: Interp, arguments: list[str], says: str) -> None:
    """The error's own words, which hold the way out, and no traceback."""
    ran = interp(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"interp {arguments[0]}: error: ")
    assert says in ran.err
    assert ran.err.count("\n") == 1


def test_debug_shows_where_an_error_comes_from(interp: Interp) -> None:
    """The traceback, with the same exit code."""
    ran = interp("tree", "./nowhere", "--debug")

    assert ran.code == 2
    assert ran.err.startswith("Traceback (most recent call last)")


def test_an_error_of_others_says_its_name(interp: Interp, tmp_path: Path) -> None:
    """Its message alone may say too little."""
    (tmp_path / "config.json").write_text("[]")

    ran = interp("tree", str(tmp_path))

    assert ran.code == 2
    assert "Error: " in ran.err.removeprefix("interp tree: error: ")
    assert ran.err.endswith("(--debug shows where)\n")


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line(interp: Interp, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says, and no line of code."""

    def warn(asked: object) -> Answer:
        warnings.warn("parts are guessed", stacklevel=1)
        return Answer("", {})

    monkeypatch.setattr("interp_components.cli.tree.answer", warn)

    assert interp("tree", "toy").err == "interp tree: warning: parts are guessed\n"


def test_json_has_no_numbers_that_json_does_not_know(interp: Interp, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not finite is null."""
    answer = Answer("", {"numbers": [float("nan"), {"deep": (float("inf"), 1.5)}]})
    monkeypatch.setattr("interp_components.cli.tree.answer", lambda asked: answer)

    assert interp("tree", "toy", "--json").facts["numbers"] == [None, {"deep": [None, 1.5]}]


def test_a_page_takes_the_place_of_tables(interp: Interp, tmp_path: Path) -> None:
    """It is written, and the standard error says where it is."""
    page = tmp_path / "page.html"
    ran = interp("tree", "toy", "--html", str(page))

    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"{page} is written: open it in a browser\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_progress_bars_are_afterwards_as_before(interp: Interp) -> None:
    """They are off while the standard error is no terminal, and no longer."""
    interp("lens", "toy", "a")

    assert logging.is_progress_bar_enabled()

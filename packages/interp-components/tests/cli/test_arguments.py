"""What can be asked for."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from interp_components import __version__
from interp_components.cli.arguments import parser

from .ran import Interp

COMMANDS = ("demo", "tree", "lens", "attention", "check", "source")


def test_alone_it_says_what_can_be_done(interp: Interp) -> None:
    """Each command is named, and nothing has gone wrong."""
    ran = interp()

    assert ran.code == 0
    assert re.findall(r"^    (\w+) ", ran.out, re.MULTILINE) == list(COMMANDS)


def test_the_version_is_the_package_s(interp: Interp) -> None:
    """One line says which release it is."""
    assert interp("--version").out == f"interp-components {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_that_is_understood(interp: Interp, command: str, tmp_path: Path) -> None:
    """What the help of a command shows can be typed."""
    shown = interp(command, "--help").out
    examples = re.findall(rf"^  interp ({command}.*)$", shown, re.MULTILINE)

    assert examples
    assert {parser().parse_args(shlex.split(example)).command for example in examples} == {command}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lenz", "toy"], "invalid choice: 'lenz'"),
        (["lens", "toy"], "the following arguments are required: PROMPT"),
        (["lens", "toy", "a", "--last", "0"], "'0' is no number from 1 on"),
        (["tree", "toy", "--html", "nowhere/page.html"], "there is no folder 'nowhere'"),
        (["tree", "toy", "--html", "."], "'.' is a folder; name a file in it"),
        (["tree", "toy", "--jso"], "unrecognized arguments: --jso"),
    ],
    ids=["command", "prompt", "count", "folder-of-page", "page-is-folder", "cut-short"],
)
def test_bad_usage_is_told_with_exit_code_2(interp: Interp, arguments: list[str], says: str) -> None:
    """Before any model is loaded, and on the standard error."""
    ran = interp(*arguments)

    assert ran.code == 2
    assert says in ran.err

"""`interp` as a program: from what stands on the command line to an exit code."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
import warnings
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from interp_components._version import __version__
from interp_components.cli.arguments import parser
from interp_components.errors import InterpError

if TYPE_CHECKING:
    from interp_components.cli.answers import Answer

OK, FAULT, CANNOT, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141
"""What the program returns; the last two are what a shell makes of the signals that they stand for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for, and return the exit code."""
    understood = parser()
    asked = understood.parse_args(arguments)
    if asked.command is None:
        understood.print_help()
        return OK
    if isinstance(sys.stdout, TextIOWrapper):  # a console that cannot print a token shows its number
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _warnings_in_a_line(asked.command):
            return _run(asked)
    except BrokenPipeError:  # `| head` has read enough; nothing may be flushed into the pipe at the exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # whatever it is, its words are for the user; --debug shows where it comes from
        _complain(asked, error)
        return CANNOT


def _run(asked: Namespace) -> int:
    if sys.stderr.isatty() and asked.command != "demo":  # which says so itself
        print(f"loading {asked.model} ...", file=sys.stderr)
    # Only now: these modules import torch and transformers, which takes seconds.
    models = import_module("interp_components.cli.models")
    command = import_module(f"interp_components.cli.{asked.command}")
    with models.bars():
        answer: Answer = command.answer(asked)
    if asked.html is not None:
        page = import_module("interp_components.cli.page")
        asked.html.write_text(page.page(answer), encoding="utf-8")
        print(f"{asked.html} is written: open it in a browser", file=sys.stderr)
    if asked.json:
        head = {"command": asked.command, "model": asked.model, "version": __version__}
        print(json.dumps(_finite({**head, **answer.facts}), indent=2, allow_nan=False))
    elif asked.html is None and answer.blocks:
        _show(answer)
    sys.stdout.flush()
    return FAULT if answer.has_fault else OK


def _show(answer: Answer) -> None:
    """Print what was found: for a terminal by rich, where it is installed, else as plain text."""
    if (sys.stdout.isatty() or os.environ.get("FORCE_COLOR")) and find_spec("rich") is not None:
        from rich.console import Console

        from interp_components.cli import pretty

        pretty.show(answer, Console())
    else:
        print(import_module("interp_components.cli.text").text(answer))


def _finite(value: Any) -> Any:
    """The value with null in place of numbers that JSON does not know. Any: what JSON holds."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def _complain(asked: Namespace, error: Exception) -> None:
    """Say on the standard error what went wrong."""
    if asked.debug:
        traceback.print_exception(error)
        return
    # Our own errors say what was asked and the way out; of others the name is half of what they say.
    said = str(error) if isinstance(error, InterpError) else f"{type(error).__name__}: {error} (--debug shows where)"
    print(f"interp {asked.command}: error: {said}", file=sys.stderr)


@contextmanager
def _warnings_in_a_line(command: str) -> Iterator[None]:
    """Show a warning as what it says, without the line of code that it comes from."""

    def show(message: Warning | str, *where: object, **more: object) -> None:
        print(f"interp {command}: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield

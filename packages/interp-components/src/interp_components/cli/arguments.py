"""What can be asked for, from `interp --help`. Imports neither torch nor anything that does."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from interp_components._version import __version__

PROMPT = "When Mary and John went to the shop, John gave a ring to"
ABOUT = """\
Look inside a language model.

MODEL is toy, a small trained model that comes with the package; a folder; a .gguf file; or a name on the hub.
"""
EXAMPLES = f"""\
examples:
  interp demo
  interp lens toy "{PROMPT}"
  interp tree toy --json | jq '.modules[].path'
"""


def parser() -> ArgumentParser:
    """The parser of the command line; `command` is None where none is given."""
    top = _parser("interp", ABOUT, EXAMPLES)
    top.add_argument("-V", "--version", action="version", version=f"interp-components {__version__}")
    # Any: argparse has no public name for what `add_subparsers` returns.
    commands: Any = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _demo(commands)
    _tree(commands)
    _lens(commands)
    _attention(commands)
    _check(commands)
    _source(commands)
    return top


def _demo(commands: Any) -> None:
    command = _command(
        commands, "demo", "show what is inside a small trained model", ["interp demo --html inside.html"]
    )
    command.add_argument("model", metavar="MODEL", nargs="?", help="another model (default: the best at hand)")
    command.add_argument("--prompt", metavar="TEXT", help="a text whose next token is predicted")
    command.add_argument("--repeated", metavar="TEXT", help="a text that begins to repeat itself")
    _shared(command)


def _tree(commands: Any) -> None:
    command = _command(
        commands, "tree", "list the modules of a model with their standard values", ["interp tree toy --eager"]
    )
    command.add_argument("model", metavar="MODEL")
    _eager(command)
    _shared(command)


def _lens(commands: Any) -> None:
    command = _command(
        commands,
        "lens",
        "show what a model would say after each layer",
        [f'interp lens toy "{PROMPT}"', 'interp lens toy "Emma went to" --word " the" --html lens.html'],
    )
    command.add_argument("model", metavar="MODEL")
    _prompt(command)
    command.add_argument("--word", metavar="TEXT", help="whose rank is followed (default: the model's own answer)")
    command.add_argument(
        "--last", metavar="N", type=_count, default=32, help="how many tokens, from the end (default: 32)"
    )
    command.add_argument("--top", metavar="K", type=_count, default=3, help="how many guesses of a place (default: 3)")
    _shared(command)


def _attention(commands: Any) -> None:
    command = _command(
        commands,
        "attention",
        "show where each head looks",
        [f'interp attention toy "{PROMPT}" --sort induction', 'interp attention toy "a b a" --layer 1 --token -2'],
    )
    command.add_argument("model", metavar="MODEL")
    _prompt(command)
    command.add_argument(
        "--layer", metavar="N", type=int, action="append", help="a layer, may be repeated (default: all)"
    )
    command.add_argument(
        "--token", metavar="N", type=int, default=-1, help="the place that looks (default: the last, -1)"
    )
    command.add_argument("--top", metavar="K", type=_count, default=3, help="how many places it looks at (default: 3)")
    command.add_argument("--sort", choices=("head", "previous", "induction", "first"), default="head", help="the order")
    _shared(command)


def _check(commands: Any) -> None:
    command = _command(
        commands,
        "check",
        "run a model and hold its values against what they have to be; exit code 1 when one is not",
        ["interp check ./my-model --eager"],
    )
    command.add_argument("model", metavar="MODEL")
    command.add_argument("--prompt", metavar="TEXT", help="a text to run the model on (default: a short one)")
    _eager(command)
    _shared(command)


def _source(commands: Any) -> None:
    command = _command(
        commands,
        "source",
        "show a module's forward with the labels of its operations",
        ["interp source toy layers.0.self_attn"],
    )
    command.add_argument("model", metavar="MODEL")
    command.add_argument("module", metavar="MODULE", help="its path, as `interp tree` shows it")
    _shared(command)


def _command(commands: Any, name: str, what: str, examples: Sequence[str]) -> ArgumentParser:
    shown = "\n".join(["example:" if len(examples) == 1 else "examples:", *(f"  {line}" for line in examples)])
    command: ArgumentParser = commands.add_parser(name, help=what, **_manners(f"{what[0].upper()}{what[1:]}.", shown))
    return command


def _parser(name: str, about: str, examples: str) -> ArgumentParser:
    return ArgumentParser(name, **_manners(about, examples))


def _manners(about: str, examples: str) -> dict[str, Any]:
    """What all parsers are made with; an option that may be cut short could not be joined by one of the same start."""
    return {
        "description": about,
        "epilog": examples,
        "formatter_class": partial(RawDescriptionHelpFormatter, max_help_position=30),
        "allow_abbrev": False,
    }


def _prompt(command: ArgumentParser) -> None:
    command.add_argument("prompt", metavar="PROMPT", help="a text; - reads it from the standard input")


def _eager(command: ArgumentParser) -> None:
    command.add_argument(
        "--eager", action="store_true", help="load with attention written out, which has scores and patterns"
    )


def _shared(command: ArgumentParser) -> None:
    """How the model is loaded, and in which form the answer comes."""
    loading = command.add_argument_group("loading")
    loading.add_argument("--trust-remote-code", action="store_true", help="run Python code that comes with the model")
    loading.add_argument("--revision", metavar="NAME", help="a branch, tag or commit on the hub")
    loading.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), help="the type of the weights")
    loading.add_argument("--device", metavar="NAME", help="where the model runs, as cuda or mps")
    form = command.add_argument_group("form")
    form.add_argument("--json", action="store_true", help="one JSON document in place of tables")
    form.add_argument("--html", metavar="FILE", type=_page, help="write one page that needs nothing else")
    form.add_argument("--debug", action="store_true", help="show the traceback of an error")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _page(text: str) -> Path:
    """A file that can be written, looked at before a model is loaded for it."""
    path = Path(text)
    if path.is_dir():
        raise ArgumentTypeError(f"{text!r} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    return path

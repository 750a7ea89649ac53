"""Run every python block of the documents, every command `interp` in them, and the examples in docstrings.

Names are shared down a page, as a reader would have them. A block is compiled under the name of its file and at its own
lines, so that a traced block in it is found in the document as it is found in a module.

What a page says that a block prints is compared with what it prints. Short output stands behind the line, as
`print(1 + 1)  # -> 2`; longer output in a fenced block of the language `output` below. `...` stands for anything, and a
line may be broken anywhere. What a block of the language `sh` prints is that of its lines that begin with `interp`.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from tempfile import TemporaryDirectory

from sybil import Document, Example, Sybil
from sybil.document import PythonDocStringDocument
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

ARROW = re.compile(r"#\s->\s?(.*)$", re.MULTILINE)


class Output:
    """What the block that ran last has printed."""

    def __init__(self) -> None:
        self._run = PythonEvaluator()
        self._printed = ""
        self._document: Document | None = None

    def run(self, example: Example) -> str | None:
        """Run a block, and return how its arrows, if it has any, differ from what it prints."""
        stream = StringIO()
        try:
            with redirect_stdout(stream):
                self._run(example)
        finally:
            self._printed, self._document = stream.getvalue(), example.document
            print(self._printed)  # pytest shows it where the block fails
        shown = ARROW.findall(str(example.parsed))
        return self._difference(" ".join(shown)) if shown else None

    def command(self, example: Example) -> str | None:
        """Run the commands `interp` of a block in this process, in a folder that goes with them."""
        commands = [shlex.split(line) for line in str(example.parsed).splitlines() if line.startswith("interp ")]
        if not commands:
            return None
        program = import_module("interp_components.cli")  # here: not every document needs what it stands on
        stream, before = StringIO(), os.getcwd()
        with TemporaryDirectory() as folder, redirect_stdout(stream):
            os.chdir(folder)
            try:
                codes = [program.main(arguments) for _, *arguments in commands]
            finally:
                os.chdir(before)
        self._printed, self._document = stream.getvalue(), example.document
        return f"the exit codes are {codes}" if any(codes) else None

    def follow(self, example: Example) -> str | None:
        """Return how an `output` block differs from what the block above it has printed."""
        if self._document is not example.document:
            return "no block that prints stands above"
        return self._difference(str(example.parsed))

    def _difference(self, shown: str) -> str | None:
        parts = [re.escape(part) for part in _spaced(shown).split("...")]
        if re.fullmatch(".*?".join(parts), _spaced(self._printed)):
            return None
        return f"the page shows\n\n{shown}\n\nand the block prints\n\n{self._printed}"


def _spaced(text: str) -> str:
    """The text on one line, since a page may break a long one."""
    return " ".join(text.split())


output = Output()
documents = Sybil(
    parsers=[
        CodeBlockParser("python", output.run),
        CodeBlockParser("sh", output.command),
        CodeBlockParser("output", output.follow),
        SkipParser(),
    ],
    patterns=["*.md"],
)
docstrings = Sybil(
    parsers=[PythonCodeBlockParser(), DocTestParser()],
    patterns=["*.py"],
    excludes=["tests/*.py"],
    document_types={".py": PythonDocStringDocument},
)
pytest_collect_file = (documents + docstrings).pytest()

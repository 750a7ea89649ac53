"""`interp`, run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.model import standins

from interp_components.cli import main

from .ran import Interp, Ran


@pytest.fixture
def interp(capsys: pytest.CaptureFixture[str]) -> Interp:
    """`interp(*arguments)`; the streams are no terminals."""

    def run(*arguments: str) -> Ran:
        try:
            code = main(arguments)
        except SystemExit as left:  # as argparse leaves
            code = int(str(left.code))
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved tiny Llama, whose tokens are bytes."""
    return str(standins.save(tmp_path_factory.mktemp("llama"), standins.llama()))


@pytest.fixture(scope="session")
def wordless_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved tiny GPT-2 without a tokenizer."""
    folder: Path = standins.save(tmp_path_factory.mktemp("gpt2"), standins.gpt2(), with_tokenizer=False)
    return str(folder)

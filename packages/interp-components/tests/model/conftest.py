"""Saved tiny models, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.model import standins


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved tiny GPT-2 with its tokenizer."""
    return standins.save(tmp_path_factory.mktemp("gpt2"), standins.gpt2())


@pytest.fixture(scope="session")
def hub_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of a hub with one repository."""
    return standins.cache(tmp_path_factory.mktemp("hub"))

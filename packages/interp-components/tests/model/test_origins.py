"""Where models come from, and what comes with them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.model import standins
from transformers import dynamic_module_utils

from interp_components.model import LoadError, StandardizedTransformer

CODE = """
from pathlib import Path
from transformers import GPT2Config, GPT2LMHeadModel

Path({ran!r}).touch()

class OwnConfig(GPT2Config):
    model_type = "own_gpt2"

class OwnModel(GPT2LMHeadModel):
    config_class = OwnConfig
"""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A file that the code of the model below makes when it runs."""
    return tmp_path / "ran"


@pytest.fixture
def with_code(tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model whose classes are in it."""
    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", list(sys.path))  # where transformers puts that folder
    folder = standins.save(tmp_path / "own", standins.gpt2())
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own_gpt2", "architectures": ["OwnModel"]}
    config["auto_map"] = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(CODE.format(ran=str(ran)))
    return folder


def test_code_that_comes_with_a_model_does_not_run_unasked(
    with_code: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused with the way out, and nobody is asked on the terminal."""
    monkeypatch.setattr("builtins.input", lambda question: pytest.fail(question))
    with pytest.raises(LoadError, match=r"comes with Python code of its own.*trust_remote_code=True"):
        StandardizedTransformer(with_code)

    assert not ran.exists()


def test_code_that_comes_with_a_model_runs_when_it_is_asked_for(with_code: Path, ran: Path) -> None:
    """The model is of the class in the folder."""
    model = StandardizedTransformer(with_code, trust_remote_code=True, family="gpt2", dispatch=True)

    assert ran.exists()
    assert type(model._module).__name__ == "OwnModel"

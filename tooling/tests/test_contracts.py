"""The import contracts hold for the rooms of the design, and each fails when it should."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from projects import ROOT

# Rooms of interp_components from the bottom, and modules that import as the design allows.
HOUSE = {
    "tracer_core/__init__.py": "from tracer_core import tracer",
    "tracer_core/tracer.py": "import sys\nfrom tracer_core import errors",
    "tracer_core/errors.py": "",
    "tracer_core/tracebacks.py": "",
    "interp_components/__init__.py": "from interp_components.model import a",
    "interp_components/errors.py": "import tracer_core",
    "interp_components/layouts.py": "import torch",
    "interp_components/keys.py": "from interp_components import errors",
    "interp_components/display.py": "from interp_components import layouts",
    "interp_components/interleaving/a.py": "import tracer_core\nfrom interp_components import layouts",
    "interp_components/properties/a.py": "from interp_components.interleaving import a",
    "interp_components/sources/a.py": "from interp_components.interleaving import a",
    "interp_components/envoys/a.py": "from interp_components.properties import a\nfrom interp_components.sources import a as b",
    "interp_components/tracing/a.py": "from interp_components.envoys import a",
    "interp_components/standard/a.py": "from interp_components.tracing import a",
    "interp_components/families/gpt2.py": "from interp_components.standard import a",
    "interp_components/families/falcon.py": "from interp_components.standard import a",
    "interp_components/model/a.py": "from interp_components import families",
    "interp_components/analysis/a.py": "from interp_components.model import a",
    "interp_components/cli.py": "from interp_components.analysis import a\nfrom tracer_core.tracebacks import hide",
    "interp_components/__main__.py": "from interp_components import cli",
}
ROOMS = "The rooms of interp_components import downwards"


def broken(house: Path, **more: str) -> list[str]:
    """The names of the contracts that a house breaks, in which the modules in `more` (`room.module`) also import that."""
    files = dict(HOUSE)
    for module, line in more.items():
        name = module.replace("__", "/") + ".py"
        files[name] = f"{files[name]}\n{line}"
    for name, text in files.items():
        path = house / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text + "\n")
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--no-cache",
        "--no-logo",
        str(ROOT / ".importlinter"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(house), str(ROOT / "tooling")])}
    said = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True).stdout
    verdicts = re.findall(r"^(.+) (KEPT|BROKEN)\b", said, re.MULTILINE)
    assert len(verdicts) == 6, said
    return [name for name, verdict in verdicts if verdict == "BROKEN"]


def test_the_design_keeps_every_contract(tmp_path: Path) -> None:
    """Nothing that the design draws is forbidden."""
    assert broken(tmp_path) == []


@pytest.mark.parametrize(
    ("module", "line", "expected"),
    [
        pytest.param(
            "tracer_core__errors", "import numpy", "tracer_core imports nothing but the standard library", id="numpy"
        ),
        pytest.param(
            "tracer_core__errors",
            "import interp_components.errors",
            "tracer_core imports nothing but the standard library",
            id="up",
        ),
        pytest.param(
            "tracer_core__errors",
            "from tracer_core import tracer",
            "No two modules of a folder need each other",
            id="cycle",
        ),
        pytest.param("interp_components__errors", "from interp_components import keys", ROOMS, id="errors to keys"),
        pytest.param(
            "interp_components__layouts", "from interp_components.interleaving import a", ROOMS, id="to interleaving"
        ),
        pytest.param(
            "interp_components__properties__a", "from interp_components.sources import a", ROOMS, id="strangers"
        ),
        pytest.param(
            "interp_components__envoys__a", "from interp_components.tracing import a", ROOMS, id="envoys to tracing"
        ),
        pytest.param(
            "interp_components__families__gpt2", "from interp_components.model import a", ROOMS, id="family to model"
        ),
        pytest.param(
            "interp_components__families__gpt2",
            "from interp_components.families import falcon",
            "Families are strangers to one another",
            id="family to family",
        ),
        pytest.param("interp_components__keys", "import torch", "The key grammar is pure text", id="keys to torch"),
        pytest.param(
            "interp_components__cli",
            "from tracer_core.errors import TracerError",
            "interp_components uses tracer_core by its public names",
            id="inside tracer_core",
        ),
    ],
)
def test_an_import_that_the_design_forbids_breaks_its_contract(
    tmp_path: Path, module: str, line: str, expected: str
) -> None:
    """Each contract can fail, and says so under its own name."""
    assert expected in broken(tmp_path, **{module: line})


def test_a_room_that_nobody_has_placed_breaks_the_layers(tmp_path: Path) -> None:
    """A new room has to say where it stands."""
    (tmp_path / "interp_components" / "attic").mkdir(parents=True)
    (tmp_path / "interp_components" / "attic" / "__init__.py").touch()

    assert ROOMS in broken(tmp_path)

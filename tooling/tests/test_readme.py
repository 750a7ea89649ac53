"""What the README promises."""

from __future__ import annotations

import re

from projects import ROOT


def test_two_commands_do_everything() -> None:
    """The first block of shell holds the two commands and nothing else, and both exist."""
    block = re.search(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    commands = block[1].splitlines()

    assert commands == ["python tooling/quickstart.py", "python tooling/check.py"]
    assert all((ROOT / command.split()[1]).is_file() for command in commands)

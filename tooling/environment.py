"""A virtual environment made by whatever Python runs this, with nothing but the standard library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from projects import ROOT

OLDEST = (3, 10)


def create(folder: Path) -> Path:
    """The Python of the environment in `folder`, made first where there is none.

    Raises:
        SystemExit: This Python is too old, or its distribution ships it without `venv`.
    """
    if sys.version_info < OLDEST:
        raise SystemExit(
            f"Python {'.'.join(map(str, OLDEST))} or newer is needed; this one is {sys.version.split()[0]}"
        )
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "complete").exists():
        print(f"making an environment in {folder.relative_to(ROOT)} with Python {sys.version.split()[0]}", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)])
        if made.returncode:
            raise SystemExit(
                "`python -m venv` does not work here: install it (Debian: python3-venv) or use another Python"
            )
        # Written last, so that an environment whose making was interrupted is made anew.
        (folder / "complete").touch()
    return python


def install(python: Path, *arguments: str) -> None:
    """Install `arguments` with the versions the tree is tested with; pip shows its progress."""
    constraints = ROOT / "tooling" / "constraints" / "tested.txt"
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--constraint", str(constraints)]
    if subprocess.run([*command, *arguments], cwd=ROOT).returncode:
        raise SystemExit(f"pip could not install {' '.join(arguments)}; the lines above say why")

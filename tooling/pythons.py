"""Find the Pythons that tracer-core is tested on, and bring those that the machine lacks where that is possible.

`python tooling/pythons.py` prints what there is. nox finds an interpreter by its name on PATH, so all that is done here
is to make `python3.10`, `python3.11`, ... answer: those of pyenv by selecting them, those brought earlier by their folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import debian
from projects import PACKAGES

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tracer-core-pythons"


def supported() -> list[str]:
    """The versions that tracer-core's classifiers name, `3.10` first."""
    text = (PACKAGES[0].folder / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def answers(version: str) -> bool:
    """Whether `pythonX.Y` runs. A shim of pyenv is on PATH for every version, and fails for those not selected."""
    command = shutil.which(f"python{version}")
    return command is not None and subprocess.run([command, "-c", ""], capture_output=True).returncode == 0


def newest_first(installed: list[str], wanted: list[str]) -> list[str]:
    """The newest release among `installed` for each version of `wanted`."""
    chosen = []
    for version in wanted:
        releases = [name for name in installed if re.fullmatch(rf"{re.escape(version)}\.\d+", name)]
        chosen += sorted(releases, key=lambda name: int(name.rpartition(".")[2]))[-1:]
    return chosen


def expose() -> None:
    """Make the Pythons that are already here answer to their names, for this process and those it starts."""
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(FOLDER / "bin")])
    if shutil.which("pyenv"):
        listed = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True).stdout.split()
        running = ".".join(map(str, sys.version_info[:3]))
        # The running one stays first: a bare `python` is the first that is selected.
        names = dict.fromkeys(
            [running, *newest_first(listed, supported())] if running in listed else newest_first(listed, supported())
        )
        if names:
            os.environ["PYENV_VERSION"] = ":".join(names)


def bring() -> dict[str, str]:
    """Bring what is missing; the versions that are still missing, each with the reason."""
    expose()
    missing = [version for version in supported() if not answers(version)]
    if not missing:
        return {}
    print(f"bringing Python {', '.join(missing)} into {FOLDER} (once; a minute or two)", flush=True)
    try:
        debian.unpack(missing, FOLDER)
    except debian.NotHere as reason:
        return {version: str(reason) for version in missing}
    return {version: f"unpacked, but python{version} does not run" for version in missing if not answers(version)}


def main() -> int:
    """Bring what is missing, then print where each version is."""
    missing = bring()
    for version in supported():
        print(f"{version:5} {missing.get(version) or shutil.which(f'python{version}')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

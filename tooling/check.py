"""Set up and pass every test of the tree: `python tooling/check.py`.

It makes an environment for nox, brings the Pythons that the machine lacks where it can, and runs the sessions of
noxfile.py, two at a time, the output of each in one piece when it ends. What follows on the command line is handed to
nox: `python tooling/check.py -s tests-core` runs that session alone.

It ends with what could not be tested here, and with the closing line of each test run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import environment
import pythons
from projects import ROOT

STARTED = re.compile(r"nox > Running session (\S+)")
CLOSING = re.compile(r"^=+ .*\b\d+ (?:passed|failed|skipped|deselected|errors?)\b.* in [\d.]+s.*=+$")
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def run_nox(python: Path, *arguments: str) -> tuple[int, list[str]]:
    """Run nox and show what it says; its exit code, and the closing line of each pytest run with its session's name."""
    command = [str(python), "-m", "nox", "--no-error-on-missing-interpreters", *arguments]
    closing: list[str] = []
    session = ""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as nox:
        assert nox.stdout is not None  # a pipe, as asked for above
        for line in nox.stdout:
            print(line, end="", flush=True)
            plain = COLOUR.sub("", line.strip())
            if started := STARTED.match(plain):
                session = started[1]
            elif CLOSING.match(plain):
                closing.append(f"{session}\n{plain}")
    return nox.returncode, closing


def main() -> int:
    """Run what was asked for; the exit code is 0 only when all of it passed."""
    python = environment.create(ROOT / ".nox" / "check")
    environment.install(python, "--quiet", "nox", "virtualenv")
    missing = pythons.bring()
    asked = sys.argv[1:]
    code, closing = run_nox(python, *(asked or ["--parallel", "2", "--allow-parallel"]))
    if not asked and not missing:  # some lines are reached on one Python alone
        covered, _ = run_nox(python, "--session", "coverage-core")
        code = code or covered
    for version, reason in missing.items():
        print(f"not tested on Python {version}: {reason}")
    print("\n".join(closing))
    print("everything passed" if code == 0 else "something failed; its session is named above", flush=True)
    return code


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())

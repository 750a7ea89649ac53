"""Keep the licence of the tree and of each package one text.

`python tooling/licences.py` fails when a copy differs; `--fix` copies the root's text into the packages.

The copies are real files because a path out of the package (`../../LICENSE`) builds an sdist that cannot be unpacked.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from projects import PACKAGES, ROOT


def differing(original: Path, copies: list[Path]) -> list[Path]:
    """Those of `copies` that are absent or say something else than `original`."""
    text = original.read_bytes()
    return [copy for copy in copies if not copy.is_file() or copy.read_bytes() != text]


def main() -> int:
    """Check or copy; the number of differing copies decides the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="copy the root's text into the packages")
    fix: bool = parser.parse_args().fix
    original = ROOT / "LICENSE"
    stale = differing(original, [package.folder / "LICENSE" for package in PACKAGES])
    for copy in stale:
        if fix:
            shutil.copyfile(original, copy)
        print(f"{copy.relative_to(ROOT)}: {'copied from' if fix else 'differs from'} LICENSE")
    return 1 if stale and not fix else 0


if __name__ == "__main__":
    sys.exit(main())

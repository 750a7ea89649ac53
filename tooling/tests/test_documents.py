"""Blocks of documents are run as a reader would run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from projects import ROOT

PAGE = """# A page

```python
x = 1
```

Text that is no Python: 'tis fine.

```python
{block}
```
"""
DOCSTRING = '''"""A module.

```python
{block}
```
"""
'''


def run(folder: Path, name: str, text: str) -> int:
    """The exit code of running the document `name`, saying `text`, with the conftest of this tree."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / name).write_text(text)
    sources = os.pathsep.join([str(folder), str(ROOT / "packages" / "tracer-core" / "src")])
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", name]
    environment = {**os.environ, "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    print(done.stdout, done.stderr)  # shown by pytest where the code is not the expected one
    return done.returncode


@pytest.mark.parametrize("template", [PAGE, DOCSTRING], ids=["page", "docstring"])
@pytest.mark.parametrize(("block", "expected"), [("assert True", 0), ("assert False", 1)], ids=["passes", "fails"])
def test_a_block_that_fails_fails_the_run(tmp_path: Path, template: str, block: str, expected: int) -> None:
    """Blocks are run, not only read."""
    name = "page.md" if template is PAGE else "module.py"

    assert run(tmp_path, name, template.format(block=block)) == expected


def test_names_are_shared_down_a_page(tmp_path: Path) -> None:
    """A block sees what the blocks above it have bound."""
    assert run(tmp_path, "page.md", PAGE.format(block="assert x == 1")) == 0


@pytest.mark.parametrize("template", [PAGE, DOCSTRING], ids=["page", "docstring"])
def test_a_block_can_be_traced(tmp_path: Path, template: str) -> None:
    """The source of a traced block is found in its document, among what is no Python."""
    name = "page.md" if template is PAGE else "module.py"
    block = "from tracer_core import Tracer, save\n\nwith Tracer():\n    y = save(2)\nassert y == 2"

    assert run(tmp_path, name, template.format(block=block)) == 0


@pytest.mark.parametrize(
    ("shown", "expected"),
    [("1 ... 3", 0), ("1 ... 4", 1), ("1", 1)],
    ids=["what-is-printed", "something-else", "a-part"],
)
@pytest.mark.parametrize(
    "block", ["print(1, 2, 3)  # -> {shown}", "print(1, 2, 3)\n```\n\n```output\n{shown}"], ids=["arrow", "block"]
)
def test_what_a_page_shows_is_what_is_printed(tmp_path: Path, block: str, shown: str, expected: int) -> None:
    """Output behind an arrow or in a block of its own is all of what the python block prints."""
    assert run(tmp_path, "page.md", PAGE.format(block=block.format(shown=shown))) == expected


@pytest.mark.parametrize(
    ("line", "shown", "expected"),
    [
        ("interp say 'a b'", "say, a b", 0),
        ("interp say c", "say, a b", 1),
        ("interp fail", "fail", 1),
        ("pip install nothing", None, 0),
    ],
    ids=["what-is-printed", "something-else", "exit-code", "another-command"],
)
def test_a_command_of_this_tree_is_run(tmp_path: Path, line: str, shown: str | None, expected: int) -> None:
    """`interp` is; what else a reader types into a shell is not."""
    (tmp_path / "interp_components").mkdir()
    program = "def main(arguments):\n    print(*arguments, sep=', ')\n    return int(arguments == ['fail'])\n"
    (tmp_path / "interp_components" / "__init__.py").touch()
    (tmp_path / "interp_components" / "cli.py").write_text(program)
    output = "" if shown is None else f"\n```output\n{shown}\n```\n"

    assert run(tmp_path, "page.md", f"# A page\n\n```sh\n{line}\n```\n{output}") == expected


def test_output_needs_a_block_that_prints_it(tmp_path: Path) -> None:
    """An output block that no python block stands above fails."""
    assert run(tmp_path, "page.md", "# A page\n\n```output\n1\n```\n") == 1

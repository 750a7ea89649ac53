"""The list of the pages for programs."""

from __future__ import annotations

from pathlib import Path

import pytest

import llms

PAGE = """# A page

```python
Not = "prose"
```

What it is about.
More of it.

<!--- invisible-code-block: python
assert True
-->
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A start page, and a section of one page."""
    (tmp_path / "how-to").mkdir()
    (tmp_path / "index.md").write_text("# Start\n")
    (tmp_path / "how-to" / "a.md").write_text(PAGE)
    return tmp_path


def test_each_page_has_a_line_in_its_section(docs: Path) -> None:
    """Title, address, and the first line of prose where there is one."""
    text = llms.overview(docs, "name", "what it is", "https://example.org/")

    assert text == (
        "# name\n\n> what it is\n"
        "\n## Start\n\n- [Start](https://example.org/)\n"
        "\n## How to\n\n- [A page](https://example.org/how-to/a/): What it is about.\n"
    )


def test_the_full_text_leaves_out_what_readers_do_not_see(docs: Path) -> None:
    """Blocks in comments are for the tests."""
    text = llms.everything(docs)

    assert (PAGE.partition("<!---")[0] in text, "assert" in text) == (True, False)


@pytest.mark.parametrize(
    ("page", "expected"), [("index.md", ""), ("how-to/index.md", "how-to/"), ("errors.md", "errors/")]
)
def test_an_address_is_that_of_the_site(page: str, expected: str) -> None:
    """A page is a folder, and an index the folder it is in."""
    assert llms.address(page) == expected

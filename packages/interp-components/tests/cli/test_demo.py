"""`interp demo`: the tour as a command."""

from __future__ import annotations

from pathlib import Path

from .ran import Interp


def test_it_tells_and_writes_a_page(interp: Interp, llama_folder: str, tmp_path: Path) -> None:
    """What is found is printed as it is found, whether a page is asked for or not."""
    page = tmp_path / "inside.html"
    ran = interp("demo", llama_folder, "--html", str(page))

    assert ran.code == 0
    assert ran.out.startswith(f"Loading {Path(llama_folder).name} ...\n")
    assert "4. What are they for?" in ran.out
    assert "<h2>What they are for</h2>" in page.read_text(encoding="utf-8")


def test_json_is_all_that_is_printed(interp: Interp) -> None:
    """The findings, for programs."""
    facts = interp("demo", "toy", "--json").facts

    assert facts["guesses"][0]["text"] == " Mary"
    assert len(facts["heads"]) == 16
    assert facts["removals"][0]["heads"] == []
    assert facts["lens"]["layers"][-1]["rank"] == 1

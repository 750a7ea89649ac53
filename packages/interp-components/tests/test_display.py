"""What people see: lines, tables, suggestions."""

from __future__ import annotations

import pytest

from interp_components.display import Finding, Report, SupportTable, spans, suggestion

TABLE = SupportTable(
    {
        "logits": None,
        "scores": "needs eager <attention>",
        "layers.state": {0: "no state", 1: "no state", 3: "other", 4: "no state"},
        "pattern": None,
    }
)


def test_a_support_table_prints_what_is_there_first() -> None:
    """One line per value, the reason beside it, and blocks with one reason drawn together."""
    assert repr(TABLE).splitlines() == [
        "logits        yes",
        "pattern       yes",
        "scores        no: needs eager <attention>",
        "layers.state  not on 0-1, 4: no state; not on 3: other",
    ]


def test_a_support_table_is_a_dict() -> None:
    """Code asks for the reason of a value by its name."""
    assert TABLE["logits"] is None
    assert TABLE["layers.state"] == {0: "no state", 1: "no state", 3: "other", 4: "no state"}


def test_a_notebook_shows_a_support_table_as_html() -> None:
    """Reasons are text, not markup."""
    shown = TABLE._repr_html_()

    assert shown.count("<tr>") == 5
    assert "needs eager &lt;attention&gt;" in shown


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], ""), ([3], "3"), ([0, 1, 2], "0-2"), ([0, 2, 3, 7], "0, 2-3, 7")],
    ids=["none", "one", "run", "mixed"],
)
def test_runs_of_numbers_are_drawn_together(numbers: list[int], expected: str) -> None:
    """Ascending numbers become the shortest text."""
    assert spans(numbers) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("layres", "; did you mean 'layers' or 'layer'?"),
        ("nrom", "; did you mean 'norm'?"),
        ("xyz", ""),
    ],
)
def test_a_name_gets_the_near_ones(name: str, expected: str) -> None:
    """Nothing is suggested when nothing is near."""
    assert suggestion(name, ["layer", "layers", "norm"]) == expected


REPORT = Report(
    "a model",
    (
        Finding("logits", "ok", "float32 [1, 2, 3]"),
        Finding("pattern", "absent", "needs eager <attention>"),
        Finding("stream", "failed", "off by 0.5"),
    ),
)


def test_a_report_prints_what_failed_on_top() -> None:
    """After a line that counts, one line for each finding."""
    assert repr(REPORT).splitlines() == [
        "a model: 1 failed, 1 ok, 1 absent",
        "FAILED  stream   off by 0.5",
        "ok      logits   float32 [1, 2, 3]",
        "absent  pattern  needs eager <attention>",
    ]


def test_a_report_is_ok_when_nothing_failed() -> None:
    """What is absent is no failure."""
    assert not REPORT.ok
    assert Report("a model", REPORT.findings[:2]).ok


def test_a_notebook_shows_a_report_as_html() -> None:
    """What was found is text, not markup."""
    shown = REPORT._repr_html_()

    assert shown.startswith("<p>a model: 1 failed, 1 ok, 1 absent</p><table>")
    assert "<td>needs eager &lt;attention&gt;</td>" in shown

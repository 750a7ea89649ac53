"""`interp check`: whether a checkpoint has what its family says."""

from __future__ import annotations

import pytest

from interp_components.display import Finding, Report
from interp_components.model import StandardizedTransformer

from .ran import Interp


def test_a_sound_model_has_exit_code_0(interp: Interp) -> None:
    """What is not there, and says why, is no fault."""
    ran = interp("check", "toy", "--json")

    assert (ran.code, ran.facts["ok"]) == (0, True)
    assert {finding["outcome"] for finding in ran.facts["findings"]} == {"ok", "absent"}


def test_a_fault_has_exit_code_1_and_stands_on_top(interp: Interp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is printed all the same."""
    report = Report("a model", (Finding("one", "ok", "fine"), Finding("two", "failed", "not equal")))
    monkeypatch.setattr(StandardizedTransformer, "check", lambda model, prompt: report)
    ran = interp("check", "toy")

    assert ran.code == 1
    assert ran.out.splitlines() == [
        "toy: a model: 1 failed, 1 ok, 0 absent",
        "",
        "failed  two  not equal",
        "ok      one  fine",
    ]


def test_eager_checks_patterns_too(interp: Interp) -> None:
    """None of the toy's values is missing then."""
    facts = interp("check", "toy", "--eager", "--json").facts

    assert {finding["outcome"] for finding in facts["findings"]} == {"ok"}

"""`interp check MODEL`: whether a checkpoint has what its family says."""

from __future__ import annotations

from argparse import Namespace

from interp_components.cli.answers import Answer, Block, Cell, Mark, Table
from interp_components.cli.models import OPTION, needs_option, opened
from interp_components.display import Outcome

_MARKS: dict[Outcome, Mark] = {"failed": "bad", "ok": "good", "absent": "faint"}
"""How an outcome is marked, in the order in which outcomes are listed."""


def answer(asked: Namespace) -> Answer:
    """What `model.check()` reports of the model that is asked for."""
    report = opened(asked).check(asked.prompt)
    findings = sorted(report.findings, key=lambda finding: list(_MARKS).index(finding.outcome))
    rows = [
        (Cell(finding.outcome, _MARKS[finding.outcome]), Cell(finding.what), Cell(finding.says, "faint"))
        for finding in findings
    ]
    counts = {outcome: sum(finding.outcome == outcome for finding in findings) for outcome in _MARKS}
    facts = {
        "about": report.title,
        "ok": report.ok,
        "findings": [
            {"what": finding.what, "outcome": finding.outcome, "says": finding.says} for finding in report.findings
        ],
    }
    said = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    blocks: list[Block] = [Table(rows)]
    if any(needs_option(finding.says) for finding in findings if finding.outcome == "absent"):
        blocks.append(OPTION)
    return Answer(f"{asked.model}: {report.title}: {said}", facts, blocks, has_fault=not report.ok)

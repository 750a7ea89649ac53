"""The page that says which value is there, in which family, on which release."""

from __future__ import annotations

import pytest
from tools import compatibility

from interp_components import families

OLD = {"gpt2": {"eager": {"logits": ["ok"], "layers.mlp.mlp_output": ["ok", "failed"]}}}
NEW = {
    "gpt2": {
        "eager": {"logits": ["ok"], "layers.mlp.mlp_output": ["ok", "absent"], "norm == norm": ["ok"]},
        "sdpa": {"logits": ["ok"], "layers.mlp.mlp_output": ["absent", "absent"]},
    },
    "bloom": {"eager": {"logits": ["ok"], "layers.mlp.mlp_output": ["ok"], "layers.mlp.mixed": ["absent"]}},
}


@pytest.fixture
def page() -> str:
    return compatibility.page([("1.0", OLD), ("2.0", NEW)])


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (["ok", "ok"], "yes"),
        (["ok", "absent"], "some"),
        (["absent"], "no"),
        (["ok", "absent", "failed"], "FAILS"),
    ],
    ids=["everywhere", "in_some_shapes", "nowhere", "wrong"],
)
def test_a_cell_is_what_all_shapes_have(outcomes: list[str], expected: str) -> None:
    """One that fails hides all others."""
    assert compatibility.cell(outcomes) == expected


def test_each_release_has_a_verdict_on_each_family(page: str) -> None:
    """With what fails by name; a family that a release does not have is not there."""
    assert "| `bloom` | no | passes |" in page
    assert "| `gpt2` | FAILS: `layers.mlp.mlp_output` | passes |" in page


def test_values_that_are_alike_in_all_families_need_no_column(page: str) -> None:
    """They are named above the table of those that differ; identities are no values."""
    eager = page.partition("## Values under eager attention, transformers 2.0")[2].partition("##")[0]

    assert eager.strip().split("\n\n") == [
        "In every family: `logits`.",
        "In no family: `mlp.mixed`.",
        "| family | `mlp.mlp_output` |\n| --- | --- |\n| `bloom` | yes |\n| `gpt2` | some |",
    ]


def test_a_family_without_the_fused_kernel_has_no_row_under_it(page: str) -> None:
    """Bloom is eager alone."""
    assert "bloom" not in page.partition("## Values under sdpa")[2]


def test_every_architecture_of_the_tests_is_measured() -> None:
    """Each family has a shape at least, and none is a class that others share."""
    assert {family for family, _ in compatibility.shapes()} == set(families.known())

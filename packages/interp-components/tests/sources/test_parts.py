"""Which operation is meant by a label that has moved."""

from __future__ import annotations

import pytest

from interp_components.sources.listing import Kind, Listed
from interp_components.sources.parts import candidates

OPERATIONS = [
    Listed(name, kind, line, sees_receiver=False)
    for line, (name, kind) in enumerate(
        {
            "interface_0": Kind.ASSIGNMENT,
            "interface_1": Kind.ASSIGNMENT,
            "interface_2": Kind.CALL,
            "F_softmax_0": Kind.CALL,
            "weights_0": Kind.ASSIGNMENT,
            "weights_view_0": Kind.CALL,
            "torch_matmul_0": Kind.CALL,
            "torch_matmul_1": Kind.CALL,
            "matmul_0": Kind.ASSIGNMENT,
        }.items()
    )
]


@pytest.mark.parametrize(
    ("label", "is_call", "expected"),
    [
        pytest.param("interface_1", True, ["interface_2"], id="the_call_of_a_name_that_is_bound_too"),
        pytest.param("interface_7", True, ["interface_2"], id="another_number"),
        pytest.param("nn_functional_softmax_0", False, ["F_softmax_0"], id="a_function_by_another_name"),
        pytest.param("torch_matmul_2", False, ["torch_matmul_0", "torch_matmul_1"], id="two_of_the_name"),
        pytest.param("F_matmul_0", False, ["torch_matmul_0", "torch_matmul_1"], id="two_of_the_function"),
        pytest.param("matmul_0", True, [], id="no_other_function_for_a_name_that_is_there"),
        pytest.param("scores_view_0", True, [], id="a_method_that_is_many_things"),
        pytest.param("no_such_op_0", False, [], id="none"),
    ],
)
def test_a_label_means_a_call_of_its_name_or_of_its_function(label: str, is_call: bool, expected: list[str]) -> None:
    """First the operations of that name, calls where a call is asked for, then calls of the same function."""
    assert [one.name for one in candidates(OPERATIONS, label, is_call)] == expected

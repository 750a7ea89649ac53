"""Picking one element of what is served, and putting it back."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest
from transformers.modeling_outputs import CausalLMOutput

from interp_components.properties.selection import FIRST, SelectionError, pick, put

Pair = namedtuple("Pair", ["left", "right"])  # a namedtuple without types is what torch returns

CALL = (("a", "b"), {"mask": "c"})
KEYWORDS = ((), {"hidden": "a", "mask": "b"})

FIELDS: Any = CausalLMOutput(logits="a", hidden_states="b")

CASES = [
    pytest.param("output", "whole", None, "whole", id="output"),
    pytest.param("output", ("a", "b"), 1, "b", id="element"),
    pytest.param("output", ("a", "b"), -1, "b", id="last_element"),
    pytest.param("output", ["a", "b"], 0, "a", id="element_of_list"),
    pytest.param("output", Pair("a", "b"), 0, "a", id="element_of_namedtuple"),
    pytest.param("output", FIELDS, "hidden_states", "b", id="field"),
    pytest.param("output", FIELDS, 0, "a", id="field_by_position"),
    pytest.param("output", ("a", "b"), FIRST, "a", id="first_of_tuple"),
    pytest.param("output", "a", FIRST, "a", id="first_of_bare"),
    pytest.param("input", CALL, None, "a", id="first_argument"),
    pytest.param("input", KEYWORDS, None, "a", id="first_keyword"),
    pytest.param("input", CALL, 1, "a", id="input_ignores_select"),
    pytest.param("inputs", CALL, None, CALL, id="pair"),
    pytest.param("inputs", CALL, 1, "b", id="argument"),
    pytest.param("inputs", CALL, "mask", "c", id="keyword"),
]


@pytest.mark.parametrize(("attribute", "value", "select", "expected"), CASES)
def test_pick_takes_the_selected_element(attribute: str, value: Any, select: Any, expected: Any) -> None:
    """The end of a key and the select together say which element is meant."""
    assert pick(attribute, value, select) == expected


@pytest.mark.parametrize(("attribute", "value", "select", "expected"), CASES)
def test_what_is_put_is_picked_again(attribute: str, value: Any, select: Any, expected: Any) -> None:
    """A written element is the one that a read finds."""
    element: Any = (("x",), {}) if attribute == "inputs" and select is None else "x"

    assert pick(attribute, put(attribute, value, select, element), select) == element


@pytest.mark.parametrize(("attribute", "value", "select", "expected"), CASES)
def test_putting_an_element_back_changes_nothing(attribute: str, value: Any, select: Any, expected: Any) -> None:
    """The rest of a call or an output survives a write, its type included."""
    again = put(attribute, value, select, expected)

    assert (again, type(again)) == (value, type(value))


def test_put_leaves_the_served_value_alone() -> None:
    """The model's own containers are never written into."""
    put("output", FIELDS, "logits", "x")
    call: Any = (("a",), {"mask": "c"})
    put("inputs", call, "mask", "x")

    assert (FIELDS["logits"], call) == ("a", (("a",), {"mask": "c"}))


def put_x(attribute: str, value: Any, select: Any) -> Any:
    return put(attribute, value, select, "x")


@pytest.mark.parametrize("change", [pick, put_x])
@pytest.mark.parametrize(
    ("attribute", "value", "select", "words"),
    [
        pytest.param(
            "output", "bare", 0, "select=0 needs an output with elements, and this one is a bare str", id="bare"
        ),
        pytest.param("output", ("a",), 2, "this output does not have: a tuple of 1", id="past_the_end"),
        pytest.param("output", ("a",), "logits", "select='logits' needs an output with elements", id="field_of_tuple"),
        pytest.param("output", {"a": 1}, "b", r"does not have: a dict with \['a'\]", id="unknown_field"),
        pytest.param("inputs", CALL, 2, r"2 positional arguments and the keywords \['mask'\]", id="argument"),
        pytest.param("inputs", CALL, "cache", "select='cache' asks for an argument", id="keyword"),
        pytest.param("input", ((), {}), None, "this call has no arguments", id="no_arguments"),
    ],
)
def test_an_element_that_is_not_there_is_named(
    change: Any, attribute: str, value: Any, select: Any, words: str
) -> None:
    """The message says what was asked for and what the call or the output has."""
    with pytest.raises(SelectionError, match=words):
        change(attribute, value, select)

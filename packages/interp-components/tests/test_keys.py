"""The key grammar: what a path means, and which paths mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interp_components.keys import ENDS, Key, KeyPathError, parse


def names_in(key: Key) -> tuple[str, ...]:
    return tuple(name for name, _ in key.steps)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("output", (False, 0, (), "output"), id="own"),
        pytest.param("embed_tokens.output", (False, 0, ("embed_tokens",), "output"), id="child"),
        pytest.param("layers.0.output", (False, 0, ("layers", "0"), "output"), id="index"),
        pytest.param("/inputs", (True, 0, (), "inputs"), id="root"),
        pytest.param("/model.norm.input", (True, 0, ("model", "norm"), "input"), id="below_root"),
        pytest.param("../ln_2.output", (False, 1, ("ln_2",), "output"), id="sibling"),
        pytest.param("../output", (False, 1, (), "output"), id="parent"),
        pytest.param("../../source.f_0.inputs", (False, 2, ("source", "f_0"), "inputs"), id="operation_above"),
        pytest.param(
            "source.f_1.source.g_0.input", (False, 0, ("source", "f_1", "source", "g_0"), "input"), id="drill"
        ),
    ],
)
def test_a_key_parses_into_start_segments_and_end(text: str, expected: tuple[object, ...]) -> None:
    """A key says where to start, what to step through and which end to take."""
    key = parse(text)

    assert (key.anchored, key.ups, names_in(key), key.attribute) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "ends in ''", id="empty"),
        pytest.param("h.0", "ends in '0'", id="no_end"),
        pytest.param("output.", "ends in ''", id="trailing_dot"),
        pytest.param("mlp..output", "empty segment", id="double_dot"),
        pytest.param(".output", "empty segment", id="leading_dot"),
        pytest.param("/../norm.output", "above the model's root", id="above_root"),
        pytest.param("mlp/act.output", "'/' after its start", id="slash_inside"),
        pytest.param("a.../b.output", "'/' after its start", id="up_inside"),
        pytest.param("../source.f_0.source.g_0.output", "inside an operation of a module above", id="drill_above"),
    ],
)
def test_a_key_that_names_no_place_is_refused_with_its_text(text: str, reason: str) -> None:
    """A refused key is quoted and the message says what is wrong with it."""
    with pytest.raises(KeyPathError, match=reason) as caught:
        parse(text)

    assert repr(text) in str(caught.value)


def test_two_drills_below_the_root_are_allowed() -> None:
    """Only a path above the host is limited to one forward."""
    assert names_in(parse("/h.source.f_0.source.g_0.output")).count("source") == 2


@pytest.mark.parametrize(
    ("text", "selects", "expected"),
    [
        pytest.param("mlp.output", True, [None], id="module"),
        pytest.param("source.f_0.output", False, [None, False], id="any_operation"),
        pytest.param("source.f_0.output", True, [None, True], id="element"),
        pytest.param("source.f_0.inputs", False, [None, True], id="arguments"),
        pytest.param("source.f_0.source.g_0.input", False, [None, True, None, False], id="drilled"),
    ],
)
def test_a_key_says_which_operations_are_calls(text: str, selects: bool, expected: list[bool | None]) -> None:
    """What is drilled into, has arguments to select from, or gives elements, is a call."""
    assert [is_call for _, is_call in parse(text, selects).steps] == expected


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}|[0-9]{1,3}", fullmatch=True).filter(lambda name: name != "source")


@given(st.sampled_from(["", "/", "../", "../../"]), st.lists(names, max_size=4), st.sampled_from(ENDS))
def test_every_well_formed_key_is_understood(start: str, segments: list[str], end: str) -> None:
    """Putting the parts of a key together and parsing it gives the parts back."""
    text = start + ".".join([*segments, end])

    key = parse(text)

    assert (key.anchored, key.ups, names_in(key), key.attribute) == (
        start == "/",
        start.count("../"),
        tuple(segments),
        end,
    )


@pytest.mark.parametrize(
    ("text", "end", "is_own"),
    [
        ("output", "output", True),
        ("input", "input", True),
        ("inputs", "input", True),
        ("/output", "output", False),
        ("../inputs", "input", False),
        ("mlp.output", "output", False),
    ],
)
def test_a_key_says_which_place_it_takes(text: str, end: str, is_own: bool) -> None:
    """The arguments of a call and the first of them are one place, and some places are the host's own."""
    key = parse(text)

    assert (key.end, key.is_own) == (end, is_own)

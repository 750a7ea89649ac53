"""Named values: reads and writes, in the order that is promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from interp_components.errors import OutsideTraceError, SourceNotAvailable, Unavailable
from interp_components.keys import KeyPathError
from interp_components.layouts import Pattern, State
from interp_components.properties import FIRST, EProperty, SelectionError, unavailable

from .toy import ToyNode, run, tree

PLAIN = 7.0  # 1 * 2 + 1 = 3 after the first block, 3 * 2 + 1 = 7 after the second


class Inner(ToyNode):
    doubled = EProperty("output", select=0)
    first_output = EProperty("output", select=FIRST)
    given = EProperty("input")
    mask = EProperty("inputs", select="mask")
    chosen = EProperty("output", select=lambda node: node.wanted)
    sibling = EProperty("../last.output")
    next_block = EProperty("/second.output")
    pair = EProperty("inputs")
    wanted = 0


class Block(ToyNode):
    deep = EProperty("inner.output", select=0)
    missing = EProperty("innre.output")
    above = EProperty("../../output")
    bad = EProperty("inner.outcome")


def read(root: ToyNode, value: Callable[[], Any]) -> Any:
    """What a block reads, as lists."""
    seen: list[Any] = []
    run(root, lambda: seen.append(value()))
    return seen[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("doubled", 2.0, id="element_of_the_output"),
        pytest.param("first_output", 2.0, id="first_of_the_output"),
        pytest.param("given", 1.0, id="first_argument"),
        pytest.param("mask", 1.0, id="keyword"),
        pytest.param("chosen", 2.0, id="select_by_function"),
        pytest.param("sibling", 3.0, id="above_the_host"),
        pytest.param("next_block", PLAIN, id="from_the_root"),
    ],
)
def test_a_key_and_a_select_name_the_value(name: str, expected: float) -> None:
    """Each kind of path reaches the place that it spells."""
    root = tree(inner=Inner)
    inner = root.get("first").get("inner")

    assert torch.all(read(root, lambda: getattr(inner, name)) == expected)


@pytest.mark.parametrize(
    ("name", "assigned", "expected"),
    [
        pytest.param("doubled", torch.full((1, 2), 4.0), 11.0, id="element_of_the_output"),
        pytest.param("first_output", torch.full((1, 2), 4.0), 11.0, id="first_of_the_output"),
        pytest.param("given", torch.full((1, 2), 2.0), 11.0, id="first_argument"),
        pytest.param("mask", torch.full((2,), 3.0), 11.0, id="keyword"),
        pytest.param("chosen", torch.full((1, 2), 4.0), 11.0, id="select_by_function"),
        pytest.param("sibling", torch.full((1, 2), 5.0), 11.0, id="above_the_host"),
        pytest.param("next_block", torch.full((1, 2), 5.0), 5.0, id="from_the_root"),
        pytest.param("pair", ((torch.full((1, 2), 2.0),), {"mask": torch.ones(2)}), 11.0, id="whole_call"),
    ],
)
def test_a_write_reaches_the_model_and_leaves_the_rest(name: str, assigned: Any, expected: float) -> None:
    """What was assigned is what the model goes on with; the other elements are as they were."""
    root = tree(inner=Inner)
    inner = root.get("first").get("inner")

    assert torch.all(run(root, lambda: setattr(inner, name, assigned)) == expected)


def test_a_block_that_only_reads_changes_nothing() -> None:
    """The model returns the same numbers with and without a read."""
    root = tree(inner=Inner)

    assert torch.equal(run(root, lambda: root.get("first").get("inner").pair), run(root))


def test_a_path_below_the_host_goes_through_children() -> None:
    """A value may live on a module further down."""
    root = tree(block=Block)

    assert torch.all(read(root, lambda: root.get("first").deep) == 2.0)


def test_a_read_takes_its_steps_in_order() -> None:
    """Availability, then the key once, then the select, then the stub."""
    steps: list[str] = []

    def note(step: str, answer: Any = None) -> Callable[[Any], Any]:
        return lambda node: steps.append(step) or answer

    class Noting(ToyNode):
        @EProperty(note("key", "output"), unavailable=note("check"), select=note("select", 0))
        def value(self, value: Any) -> Any:
            steps.append("stub")
            return value

    root = tree(inner=Noting)
    read(root, lambda: root.get("first").get("inner").value)

    assert steps == ["check", "key", "select", "stub"]


def test_a_write_takes_its_steps_in_order() -> None:
    """Availability, then the postprocess, then the key once, then the select."""
    steps: list[str] = []

    def note(step: str, answer: Any = None) -> Callable[[Any], Any]:
        return lambda node: steps.append(step) or answer

    class Noting(ToyNode):
        @EProperty(note("key", "output"), unavailable=note("check"), select=note("select", 0))
        def value(self, value: Any) -> Any:
            raise AssertionError("a write does not use the stub")

        @value.postprocess
        def _after(self, value: Any) -> Any:
            steps.append("postprocess")
            return value

    root = tree(inner=Noting)
    run(root, lambda: setattr(root.get("first").get("inner"), "value", torch.ones(1, 2)))

    assert steps == ["check", "postprocess", "key", "select"]


@pytest.mark.parametrize(
    "access", [lambda node: node.value, lambda node: setattr(node, "value", 0)], ids=["get", "set"]
)
def test_what_is_not_there_is_refused_before_anything_runs(access: Callable[[Any], Any]) -> None:
    """The reason comes outside a trace too, for reads and writes, and also from hasattr."""

    class Without(ToyNode):
        value = unavailable("dropped on purpose")

    inner = tree(inner=Without).get("first").get("inner")

    with pytest.raises(Unavailable, match=r"model\.first\.inner\.value is not available: dropped on purpose"):
        access(inner)


def test_hasattr_raises_instead_of_answering() -> None:
    """Asking whether a value is there is what `support()` is for."""

    class Without(ToyNode):
        value = unavailable("dropped")

    with pytest.raises(Unavailable):
        hasattr(tree(inner=Without).get("first").get("inner"), "value")


def test_outside_a_trace_a_value_says_where_it_exists() -> None:
    """The error names the value by the path of its host."""
    inner = tree(inner=Inner).get("first").get("inner")

    with pytest.raises(OutsideTraceError, match=r"`model\.first\.inner\.doubled` outside of interleaving"):
        inner.doubled  # the access is the test


def test_a_missing_step_names_the_value_its_key_and_what_was_found() -> None:
    """The message has the host, the key and the inner text."""
    root = tree(block=Block)

    with pytest.raises(SourceNotAvailable) as caught:
        read(root, lambda: root.get("first").missing)

    assert str(caught.value).startswith(
        "model.first.missing reads 'innre.output', which this run does not have: "
        "'model.first' has no child 'innre'; available: inner, last"
    )


@pytest.mark.parametrize(
    ("name", "words"), [("above", "climbs above the model's root"), ("bad", "ends in 'outcome'")], ids=["root", "end"]
)
def test_a_key_that_leads_nowhere_is_refused_when_it_is_used(name: str, words: str) -> None:
    """Refused at the access, inside the trace, as a ValueError."""
    root = tree(block=Block)

    with pytest.raises(KeyPathError, match=words):
        read(root, lambda: getattr(root.get("first"), name))


def test_a_select_that_finds_nothing_is_reported_at_the_line() -> None:
    """A bare tensor has no elements."""

    class Wrong(ToyNode):
        value = EProperty("output", select=0)

    root = tree(last=Wrong)

    with pytest.raises(SelectionError, match="a bare Tensor"):
        read(root, lambda: root.get("first").get("last").value)


# The text of a value


class Described(ToyNode):
    @EProperty("source.f_0.output", description="q @ k^T")
    def scores(self, value: Tensor) -> Pattern:
        return value

    @EProperty("output")
    def state(self, value: Tensor) -> State | None:
        """The state after the call.

        More about it.
        """
        return value

    bare = EProperty("output", description="As it is")
    silent = EProperty("output")
    computed = EProperty(lambda node: "output")
    marker = unavailable("never")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("scores", "(scores) -> Pattern [batch num_heads query key]: q @ k^T"),
        ("state", "(state) -> State | None [batch heads key_dim value_dim]: The state after the call"),
        ("bare", "(bare): As it is"),
        ("silent", "(silent)"),
        ("marker", "(marker): Unavailable: never"),
    ],
)
def test_a_value_prints_as_its_line(name: str, line: str) -> None:
    """Name, layout, axes, description; what there is of them."""
    assert str(getattr(Described, name)) == line


@pytest.mark.parametrize(
    ("name", "key", "is_inside"),
    [
        ("scores", "source.f_0.output", True),
        ("bare", "output", False),
        ("computed", "<function <lambda>>", True),
        ("marker", "marker", False),
    ],
)
def test_a_value_says_what_its_key_is(name: str, key: str, is_inside: bool) -> None:
    """A function counts as inside a forward: where it leads is known at the access only."""
    value: EProperty = getattr(Described, name)

    assert (value.key, value.inside_forward()) == (key, is_inside)


def test_the_layout_is_known_for_a_class_inside_a_function() -> None:
    """A layout that only the surrounding function knows is found, postponed annotations or not."""
    from interp_components.layouts import Queries as Local

    class Inside:
        @EProperty("output")
        def value(self, value: Tensor) -> Local:
            return value

    assert Inside.value.layout is Local
    assert Inside.value.dims == ("batch", "num_heads", "seq", "qk_head_dim")

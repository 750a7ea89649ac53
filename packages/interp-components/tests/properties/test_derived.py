"""Values that are computed from other values."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from interp_components.errors import Unavailable
from interp_components.layouts import Gates
from interp_components.properties import DerivedEProperty, EProperty, unavailable

from .toy import ToyNode, run, tree


def added(node: Inner) -> Gates:
    return node.given + node.doubled


class Inner(ToyNode):
    given = EProperty("input")
    doubled = EProperty("output", select=0)
    tripled = DerivedEProperty(added, description="Input and output together")
    short = DerivedEProperty(lambda node: node.given)
    gone = DerivedEProperty(added, unavailable="never")
    hole = DerivedEProperty(lambda node: node.missing)
    missing = unavailable("not here")


def test_a_derived_value_reads_what_it_needs_in_order() -> None:
    """One access reads two places of the forward."""
    root = tree(inner=Inner)
    seen: list[Tensor] = []
    run(root, lambda: seen.append(root.get("first").get("inner").tripled))

    assert torch.all(seen[0] == 3.0)


def test_a_derived_value_cannot_be_assigned() -> None:
    """There is no place to write to, and an assignment that fails is an AttributeError."""
    inner = tree(inner=Inner).get("first").get("inner")

    with pytest.raises(AttributeError) as caught:
        inner.tripled = torch.zeros(1)

    assert str(caught.value) == "tripled is derived and read-only"


@pytest.mark.parametrize(("name", "words"), [("gone", "gone is not available: never"), ("hole", "missing is not")])
def test_a_derived_value_is_there_when_it_and_what_it_reads_are(name: str, words: str) -> None:
    """Its own reason comes first, then those of the values it reads."""
    with pytest.raises(Unavailable, match=words):
        getattr(tree(inner=Inner).get("first").get("inner"), name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("tripled", "(tripled) -> Gates [batch seq heads]: Input and output together"),
        ("short", "(short)"),
    ],
)
def test_a_derived_value_has_the_layout_of_its_function(name: str, line: str) -> None:
    """A lambda says nothing of its layout."""
    assert str(getattr(Inner, name)) == line


def test_a_derived_value_has_no_place_inside_a_forward() -> None:
    """The values it reads have keys; it has none."""
    assert Inner.tripled.inside_forward() is False

"""Components: classes whose descriptors are the values."""

from __future__ import annotations

import pytest
from torch import nn

from interp_components.properties import EProperty, unavailable
from interp_components.standard import Attention, Layer, Mlp, Standard


class Base(Standard):
    first = EProperty("output")
    second = EProperty("input", unavailable=lambda envoy: f"of {envoy.path}")


class Derived(Base):
    third = EProperty("inputs")
    first = unavailable("dropped")
    second = None  # what is no value any more is not listed


class Renamed(Base):
    @EProperty("output")
    def value(self, value: object) -> object:
        return value

    @value.transform
    def _back(self, view: object, raw: object) -> object:
        return view


def test_values_are_the_descriptors_of_the_class_and_its_bases() -> None:
    """Base classes first, each under its own name once."""
    assert list(Base.values()) == ["first", "second"]
    assert list(Derived.values()) == ["first", "third"]
    assert list(Renamed.values()) == ["first", "second", "value"]


def test_an_override_replaces_the_value() -> None:
    """The table shows the reason of the class that is used."""
    assert Derived(nn.Linear(1, 1)).support() == {"first": "dropped", "third": None}


def test_support_asks_each_predicate_on_the_instance() -> None:
    """Outside a trace."""
    assert Base(nn.Linear(1, 1), path="here").support() == {"first": None, "second": "of here"}


@pytest.mark.parametrize("component", [Layer, Attention, Mlp])
def test_every_standard_value_says_what_it_is(component: type[Standard]) -> None:
    """A description and a layout, so that it has a line in the repr."""
    assert [name for name, value in component.values().items() if not (value.description and value.dims)] == []

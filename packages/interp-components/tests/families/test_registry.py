"""Finding the family of an architecture."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from interp_components import families
from interp_components.envoys import Envoy


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Leaves the registry as it was."""
    before = dict(families.REGISTRY)
    yield
    families.REGISTRY.clear()
    families.REGISTRY.update(before)


def family(name: str) -> Any:
    return SimpleNamespace(__name__=name, RENAME={}, ENVOYS={})


def test_a_family_is_found_by_the_model_type_it_is_called_after() -> None:
    """`gpt2` is `families.gpt2`."""
    assert families.lookup("gpt2") is families.gpt2


def test_an_unknown_model_type_has_no_family() -> None:
    """The caller decides what to do without one."""
    assert families.lookup("no_such_model") is None


def test_a_registered_family_comes_first() -> None:
    """A family from elsewhere may describe one of our architectures otherwise."""
    other = family("elsewhere.gpt2")
    families.register(other)

    assert families.lookup("gpt2") is other


def test_a_family_can_describe_several_model_types() -> None:
    """Each of them finds it, and it is known by them alone."""
    other = family("elsewhere.shared")
    families.register(other, "one", "two")

    assert [families.lookup(name) for name in ("one", "two", "shared")] == [other, other, None]
    assert {"one", "two", "gpt2"} <= set(families.known())


def test_what_has_no_name_is_not_a_family() -> None:
    """A family is called by its __name__."""
    with pytest.raises(TypeError, match="called by its __name__"):
        families.register(object())


def test_a_missing_family_is_a_missing_attribute() -> None:
    """The message lists those that there are."""
    with pytest.raises(AttributeError, match=r"no family 'gpt9'; there are .*gpt2"):
        families.gpt9  # the access is the test


def test_every_family_of_ours_is_listed_by_dir() -> None:
    """Completion offers them before they are imported."""
    assert set(families.known()) <= set(dir(families))


@pytest.mark.parametrize("model_type", families.known())
def test_a_family_says_names_and_components(model_type: str) -> None:
    """What every family has, and components that are envoys."""
    found = families.lookup(model_type)

    assert found is not None
    assert set(found.RENAME.values()) >= {"embed_tokens", "layers"}
    assert all(issubclass(component, Envoy) for component in found.ENVOYS.values())


def test_all_families_are_those_that_are_known() -> None:
    """One entry per model type."""
    assert list(families.all_families()) == families.known()

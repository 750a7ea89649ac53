"""Layouts from the annotations of stubs, postponed ones included (as in this module)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import pytest
from torch import Tensor

from interp_components import layouts
from interp_components.layouts import Pattern, State
from interp_components.properties.annotation import is_optional, return_hint, without_none

if TYPE_CHECKING:
    from collections.abc import Buffer as OnlyForTheChecker


def plain(self: Any, value: Tensor) -> Pattern:
    return value


def optional(self: Any, value: Tensor) -> State | None:
    return value


def old_optional(self: Any, value: Tensor) -> Optional[State]:  # noqa: UP045  # the spelling of older code
    return value


def checker_only(self: Any, value: OnlyForTheChecker) -> Pattern:
    return Tensor(value)


def silent(self, value):  # a stub without annotations
    return value


@pytest.mark.parametrize(
    ("stub", "layout", "may_be_none"),
    [
        pytest.param(plain, Pattern, False, id="alias"),
        pytest.param(optional, State, True, id="union"),
        pytest.param(old_optional, State, True, id="Optional"),
        pytest.param(checker_only, Pattern, False, id="argument_for_the_checker"),
        pytest.param(silent, None, False, id="none"),
    ],
)
def test_the_layout_is_the_alias_object_itself(stub: Any, layout: Any, may_be_none: bool) -> None:
    """Postponed or not, the layout is the object in `layouts`."""
    hint = return_hint(stub)

    assert without_none(hint) is layout
    assert is_optional(hint) is may_be_none


def test_an_unknown_name_in_the_return_annotation_is_reported() -> None:
    """A layout that nobody knows is a mistake in the stub."""

    def stub(self: Any, value: Any) -> NoSuchLayout:  # noqa: F821  # on purpose
        return value

    with pytest.raises(NameError, match="NoSuchLayout"):
        return_hint(stub)


def test_the_layouts_module_is_what_the_stubs_name() -> None:
    """The object that a family names is the one that the base names."""
    assert return_hint(plain) is layouts.Pattern

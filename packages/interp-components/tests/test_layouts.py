"""The named shapes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from jaxtyping import Float

from interp_components import layouts


@pytest.mark.parametrize("name", layouts.__all__)
def test_a_layout_is_found_by_its_own_name(name: str) -> None:
    """Layouts with equal axes keep their own names."""
    assert layouts.layout_name(getattr(layouts, name)) == name


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        pytest.param(layouts.Residual, ("batch", "seq", "hidden"), id="Residual"),
        pytest.param(layouts.Queries, ("batch", "num_heads", "seq", "qk_head_dim"), id="Queries"),
        pytest.param(layouts.Keys, ("batch", "num_kv_heads", "seq", "qk_head_dim"), id="Keys"),
        pytest.param(layouts.Values, ("batch", "num_kv_heads", "seq", "head_dim"), id="Values"),
        pytest.param(layouts.Pattern, ("batch", "num_heads", "query", "key"), id="Pattern"),
        pytest.param(layouts.HeadOutputs, ("batch", "seq", "num_heads", "head_dim"), id="HeadOutputs"),
        pytest.param(torch.Tensor, (), id="no axes"),
    ],
)
def test_dims_are_the_axis_names_in_order(layout: Any, expected: tuple[str, ...]) -> None:
    """The axes are read off the alias."""
    assert layouts.dims(layout) == expected


def test_a_type_of_ones_own_is_called_what_it_calls_itself() -> None:
    """A layout from elsewhere has no name here and shows its type."""
    assert layouts.layout_name(Float[torch.Tensor, "a b"]) == "Float[Tensor, 'a b']"


@pytest.mark.parametrize(
    ("value", "layout", "expected"),
    [
        pytest.param(torch.zeros(2, 1, 3, 3), layouts.Pattern, True, id="any sizes"),
        pytest.param(torch.zeros(2, 3, 3), layouts.Pattern, False, id="rank"),
        pytest.param(torch.zeros(2, 3), layouts.Tokens, False, id="dtype"),
        pytest.param(torch.zeros(2, 3, 4, dtype=torch.bfloat16), layouts.Residual, True, id="any float"),
        pytest.param(torch.ones(2, 1, 3, 3, dtype=torch.bool), layouts.Mask, True, id="masks of booleans"),
        pytest.param(torch.ones(2, 3, 4, 4), layouts.StreamMixing, True, id="repeated axis"),
    ],
)
def test_isinstance_checks_rank_and_dtype_only(value: torch.Tensor, layout: Any, expected: bool) -> None:
    """Axis names are labels: no size is ever refused for its own sake."""
    assert isinstance(value, layout) is expected

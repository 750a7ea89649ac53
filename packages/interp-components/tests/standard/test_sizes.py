"""Sizes of modules."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn
from transformers.pytorch_utils import Conv1D

from interp_components.standard import Attention, Mlp
from interp_components.standard.sizes import module_int, width_in


def module(**attributes: Any) -> nn.Module:
    made = nn.Module()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        pytest.param({"num_heads": 6, "head_dim": 8}, (6, 6, 8, 8), id="attributes"),
        pytest.param({"o_proj": nn.Linear(60, 24), "head_dim": 10}, (6, 6, 10, 10), id="width"),
        pytest.param(
            {"o_proj": nn.Linear(60, 24), "head_dim": 10, "num_key_value_groups": 3}, (6, 2, 10, 10), id="groups"
        ),
        pytest.param({"num_heads": 6, "num_key_value_heads": 1, "head_dim": 8}, (6, 1, 8, 8), id="kv_heads"),
        pytest.param({"num_heads": 6, "v_head_dim": 5, "head_dim": 8, "qk_head_dim": 9}, (6, 6, 5, 9), id="two_widths"),
    ],
)
def test_an_attentions_sizes_are_found_under_the_known_names(
    attributes: dict[str, Any], expected: tuple[int, ...]
) -> None:
    """Attributes first, then the width of the output projection."""
    attention = Attention(module(**attributes))

    assert (attention.num_heads, attention.num_kv_heads, attention.head_dim, attention.qk_head_dim) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        pytest.param({"intermediate_size": 40}, 40, id="attribute"),
        pytest.param({"down_proj": nn.Linear(40, 24)}, 40, id="linear"),
        pytest.param({"c_proj": Conv1D(24, 40)}, 40, id="conv1d"),
    ],
)
def test_an_mlps_size_is_an_attribute_or_a_width(attributes: dict[str, Any], expected: int) -> None:
    """The input of the last projection counts the neurons."""
    assert Mlp(module(**attributes)).intermediate_size == expected


@pytest.mark.parametrize(
    ("read", "words"),
    [
        pytest.param(
            lambda made: Attention(made).head_dim, r"model \(Module\) holds no head_dim.*Attention", id="head_dim"
        ),
        pytest.param(
            lambda made: Mlp(made).intermediate_size, "input width of down_proj, c_proj.*Mlp", id="intermediate"
        ),
    ],
)
def test_a_module_without_the_size_names_what_the_family_has_to_define(read: Any, words: str) -> None:
    """Module, property and component class are in the message."""
    with pytest.raises(NotImplementedError, match=words):
        read(module())


def test_a_flag_is_not_a_size() -> None:
    """True is an int, and no number of heads."""
    assert module_int(module(num_heads=True, n_head=4), "num_heads", "n_head") == 4


def test_no_projection_has_no_width() -> None:
    """A module may lack it."""
    assert width_in(None) is None

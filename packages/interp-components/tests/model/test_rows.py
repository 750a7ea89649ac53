"""Padding and positions."""

from __future__ import annotations

import pytest
import torch

from interp_components.model.rows import Side, pad_rows, positions, widen


@pytest.mark.parametrize(
    ("side", "expected"),
    [("left", [[9, 9, 1], [2, 3, 4]]), ("right", [[1, 9, 9], [2, 3, 4]])],
    ids=["left", "right"],
)
def test_rows_are_padded_to_the_longest_on_one_side(side: Side, expected: list[list[int]]) -> None:
    """Shorter rows get the fill on the side that was asked for."""
    rows = [torch.tensor([1]), torch.tensor([2, 3, 4])]

    assert expected == pad_rows(rows, 9, side).tolist()


def test_the_axes_after_the_row_are_left_alone() -> None:
    """Rows of vectors are padded with whole vectors."""
    padded = pad_rows([torch.ones(1, 2), torch.ones(3, 2)], 0, "left")

    assert padded[0].tolist() == [[0, 0], [0, 0], [1, 1]]


def test_widening_by_nothing_copies_nothing() -> None:
    """A value that is long enough is returned as it is."""
    value = torch.ones(1, 3)

    assert widen(value, 0, 7, "left", 1) is value


@pytest.mark.parametrize(
    ("mask", "expected"),
    [([0, 0, 1, 1], [0, 0, 0, 1]), ([1, 1, 0, 0], [0, 1, 2, 3]), ([1, 0, 1, 1], [0, 1, 2, 3])],
    ids=["left", "right", "inside"],
)
def test_positions_count_from_the_first_token_of_a_row(mask: list[int], expected: list[int]) -> None:
    """As the model counts alone: a gap in a row is a place of it."""
    assert [expected] == positions(torch.tensor([mask])).tolist()

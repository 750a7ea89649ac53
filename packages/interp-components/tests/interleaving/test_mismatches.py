"""An assignment of another type or shape is noted on the error that the model raises after it."""

import linecache

import pytest
import torch
from torch import nn

from interp_components import Envoy


def _model() -> Envoy:
    return Envoy(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)))


@pytest.mark.parametrize(
    ("assigned", "got"),
    [
        (torch.zeros(1, 2), "a tensor of shape (1, 2)"),
        ((torch.zeros(1, 3),), "a tuple of (a tensor of shape (1, 3))"),
        (None, "a NoneType"),
    ],
    ids=["shape", "tuple", "none"],
)
def test_a_model_that_fails_names_the_assignment(assigned: object, got: str) -> None:
    """The note says what was assigned, what was there, and on which line; the error keeps its own type."""
    model = _model()
    with pytest.raises((RuntimeError, TypeError)) as caught, model.trace(torch.ones(1, 3)):
        model[0].output = assigned

    (note,) = caught.value.__notes__
    where = f"at {__file__}:"
    assert note.startswith(f"model.0.output was assigned {got} where the model had a tensor of shape (1, 3), {where}")
    line = int(note.split(where)[1].split(".")[0])
    assert linecache.getline(__file__, line).strip() == "model[0].output = assigned"


def test_another_shape_that_the_model_can_go_on_with_is_no_error() -> None:
    """Fewer rows, say, can be meant."""
    model = _model()
    with model.trace(torch.ones(2, 3)):
        model[0].output = torch.ones(1, 3)
        result = model.output.save()

    assert result.shape == (1, 3)


def test_an_error_that_is_the_blocks_own_is_not_noted() -> None:
    """What the block raised needs no explanation by its assignments."""
    model = _model()
    with pytest.raises(KeyError) as caught, model.trace(torch.ones(2, 3)):
        model[0].output = torch.ones(1, 3)
        raise KeyError("mine")

    assert not hasattr(caught.value, "__notes__")

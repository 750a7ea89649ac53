"""Which rows of a batched value are a block's own."""

from collections import namedtuple

import pytest
import torch
from transformers.modeling_outputs import BaseModelOutput

from interp_components.errors import RowsError
from interp_components.interleaving import Batch, Rows

Pair = namedtuple("Pair", ["left", "right"])


@pytest.fixture
def rows():
    return Rows(1, 1, Batch(2, {1, 3}))


@pytest.mark.parametrize(
    ("shape", "narrowed"),
    [
        pytest.param((2, 5), (1, 5), id="rows"),
        pytest.param((6, 5), (3, 5), id="flattened"),
        pytest.param((1, 5), (1, 5), id="one for all"),
        pytest.param((4, 5), (4, 5), id="of another size"),
        pytest.param((6,), (6,), id="flat vector"),
        pytest.param((), (), id="scalar"),
    ],
)
def test_only_tensors_laid_out_by_rows_are_narrowed(rows, shape, narrowed):
    """Their first dimension is the batch, or a known multiple of it."""
    assert rows.narrow(torch.zeros(shape)).shape == narrowed


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda x: (x, 1), id="tuple"),
        pytest.param(lambda x: [x, None], id="list"),
        pytest.param(lambda x: {"a": x}, id="dict"),
        pytest.param(lambda x: Pair(x, 2), id="namedtuple"),
        pytest.param(lambda x: BaseModelOutput(last_hidden_state=x), id="ModelOutput"),
    ],
)
def test_containers_keep_their_types(rows, wrap):
    """Only the tensors in them change."""
    narrowed = rows.narrow(wrap(torch.zeros(2, 5)))

    assert type(narrowed) is type(wrap(torch.zeros(2, 5)))


def test_a_narrowed_tensor_is_a_view(rows):
    """An edit in place reaches the whole batch."""
    whole = torch.zeros(2, 3)
    rows.narrow(whole)[:] = 1

    assert whole.tolist() == [[0, 0, 0], [1, 1, 1]]


def test_widening_leaves_the_other_rows(rows):
    """A new tensor, with the block's rows replaced."""
    whole = torch.zeros(2, 3)

    assert rows.widen(whole, torch.ones(1, 3), "here").tolist() == [[0, 0, 0], [1, 1, 1]]


def test_another_structure_is_refused(rows):
    """The message says what is there and what was assigned."""
    with pytest.raises(RowsError, match=r"here is a tuple of 2 .* and a Tensor of shape \(1, 3\) was assigned"):
        rows.widen((torch.zeros(2, 3), None), torch.zeros(1, 3), "here")


def test_the_inputs_of_a_forward_tell_what_a_row_stands_for():
    """Beams and sequence length, from the arguments of the root."""
    batch = Batch(2)
    batch.learn((torch.zeros(6, 4),), {})

    assert batch.multiples == {1, 3, 4, 12}

"""`with tracer.invoke(x):` - several blocks on one batch, each on its own rows."""

import pytest
import torch
from torch import nn

from interp_components.errors import BarrierError, BatchError, OutsideTraceError, RowsError
from interp_components.saving import save
from interp_components.tracing import Traceable


def test_each_invoke_sees_its_own_rows(chain, x):
    """A block reads what a run of its input alone reads."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            one = chain.first.output.save()
        with tracer.invoke(x[1:]):
            two = chain.first.output.save()

    expected = chain._module.first(x)
    assert (torch.allclose(expected[:1], one), torch.allclose(expected[1:], two)) == (True, True)


def test_an_empty_invoke_sees_the_whole_batch(chain, x):
    """Without an input a block reads all rows."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            chain.first.output.save()
        with tracer.invoke(x[1:]):
            chain.first.output.save()
        with tracer.invoke():
            whole = chain.first.output.save()

    assert whole.shape == (2, 4)


@pytest.mark.parametrize("inplace", [True, False], ids=["in place", "assigned"])
def test_an_edit_in_one_invoke_leaves_the_others_bit_equal(chain, x, inplace):
    """The rows of other blocks go on as if nobody had edited."""
    with torch.no_grad():
        expected = chain._module(x)
        with chain.trace() as tracer:
            with tracer.invoke(x[:1]):
                if inplace:
                    chain.first.output[:] = 7
                else:
                    chain.first.output = chain.first.output * 0 + 7
                edited = chain.output.save()
            with tracer.invoke(x[1:]):
                other = chain.output.save()

    assert (torch.equal(expected[1:], other), torch.equal(expected[:1], edited)) == (True, False)


def test_blocks_are_served_in_their_order_at_one_place(chain, x):
    """What an earlier block binds at a place is there for a later one at the same place."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            early = chain.first.output
        with tracer.invoke(x[1:]):
            chain.first.output.save()
            chain.first.output = early
            late = chain.output.save()

    assert torch.allclose(chain._module(x[:1]), late)


def test_a_barrier_lets_a_value_pass_within_one_place(chain, x):
    """The last block to come to a barrier releases the others."""
    with chain.trace() as tracer:
        barrier = tracer.barrier(2)
        with tracer.invoke(x[:1]):
            early = chain.first.output
            barrier()
        with tracer.invoke(x[1:]):
            barrier()
            chain.first.output = early
            late = chain.output.save()

    assert torch.allclose(chain._module(x[:1]), late)


def test_a_name_that_another_block_has_not_bound_yet_is_an_error_that_tells_of_barriers(chain, x):
    """The error is Python's, with a note that says which block binds the name and how to wait for it."""
    with pytest.raises(NameError) as raised, chain.trace() as tracer:
        with tracer.invoke(x):
            hidden = chain.first.output
        with tracer.invoke(x):
            chain.first.output[:] = hidden

    [note] = raised.value.__notes__
    assert "'hidden' is bound by the invoke at " in note
    assert "tracer.barrier(2)" in note


def test_a_name_that_a_block_reads_before_it_binds_it_is_python_s_error_alone(chain, x):
    """A barrier would not help: the other block has nothing to do with it."""
    with pytest.raises(NameError) as raised, chain.trace() as tracer:
        with tracer.invoke(x):
            chain.first.output[:] = hidden  # noqa: F821 - on purpose
            hidden = chain.first.output
        with tracer.invoke(x):
            chain.output.save()

    assert not hasattr(raised.value, "__notes__")


def test_a_name_that_nobody_binds_is_python_s_error_alone(chain, x):
    """There is nobody to wait for."""
    with pytest.raises(NameError) as raised, chain.trace() as tracer:
        with tracer.invoke(x):
            chain.first.output[:] = nowhere  # noqa: F821 - on purpose
        with tracer.invoke(x):
            chain.first.output.save()

    assert not hasattr(raised.value, "__notes__")


def test_a_barrier_that_not_all_reach_is_an_error(chain, x):
    """The message says that its count is too high."""
    with pytest.raises(BarrierError, match="never reached by every block"), chain.trace() as tracer:
        barrier = tracer.barrier(2)
        with tracer.invoke(x):
            barrier()


def test_a_skip_by_all_invokes_is_put_together(chain, x):
    """Each block says what its rows are instead of the call."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            chain.first.skip(x[:1])
        with tracer.invoke(x[1:]):
            chain.first.skip(x[1:])
        with tracer.invoke():
            result = chain.output.save()

    assert torch.equal(chain._module.second(x), result)


def test_a_skip_has_to_cover_every_row(chain, x):
    """A call is one for the whole batch."""
    with pytest.raises(RowsError, match="skipped for rows 0-0 of 2 only"), chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            chain.first.skip(x[:1])
        with tracer.invoke(x[1:]):
            chain.output.save()


def test_an_assignment_keeps_the_shape_of_the_rows(chain, x):
    """The message names the place and both shapes."""
    message = r"model.first.output has the shape \(1, 4\) in this invoke, and \(1, 3\) was assigned"
    with pytest.raises(RowsError, match=message), chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            chain.first.output = torch.zeros(1, 3)
        with tracer.invoke(x[1:]):
            chain.output.save()


def test_inputs_that_differ_in_more_than_rows_are_refused(chain, x):
    """Tensors are joined along their first dimension only."""
    with (
        pytest.raises(BatchError, match=r"a Tensor of shape \(1, 4\), a Tensor of shape \(1, 3\)"),
        chain.trace() as tracer,
    ):
        with tracer.invoke(x[:1]):
            chain.output.save()
        with tracer.invoke(x[1:, :3]):
            chain.output.save()


def test_arguments_by_name_reach_the_model(gpt2, ids):
    """Keyword tensors have rows as well."""
    with torch.no_grad(), gpt2.trace() as tracer:
        with tracer.invoke(input_ids=ids[:1], attention_mask=torch.ones(1, 8)):
            one = gpt2.output.logits.save()
        with tracer.invoke(input_ids=ids[1:], attention_mask=torch.ones(1, 8)):
            two = gpt2.output.logits.save()

    with torch.no_grad():
        expected = gpt2._module(ids).logits
    assert (torch.allclose(expected[:1], one), torch.allclose(expected[1:], two)) == (True, True)


def test_rows_of_a_flattened_batch_belong_to_their_invoke(x):
    """A module that sees batch*seq rows serves those of the block's sequences."""

    class Flat(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            return self.layer(x.flatten(0, 1)).view_as(x)

    model, sequences = Traceable(Flat()), torch.randn(2, 3, 4)
    with model.trace() as tracer:
        with tracer.invoke(sequences[:1]):
            model.layer.output.save()
        with tracer.invoke(sequences[1:]):
            flat = model.layer.output.save()

    assert torch.allclose(model._module.layer(sequences[1]), flat)


def test_beams_belong_to_their_invoke(gpt2, ids):
    """With three beams a prompt has three rows of every forward."""
    with gpt2.trace(fn="generate", max_new_tokens=2, num_beams=3, do_sample=False) as tracer:
        with tracer.invoke(ids[:1], attention_mask=torch.ones(1, 8)):
            one = gpt2.transformer.h[0].output.save()
        with tracer.invoke(ids[1:], attention_mask=torch.ones(1, 8)):
            gpt2.transformer.h[0].output.save()

    assert one.shape == (3, 8, 32)


def test_an_error_in_one_invoke_is_the_error_of_the_trace(chain, x, leftovers):
    """The other blocks are unwound, and nothing stays."""
    unwound = []
    with pytest.raises(KeyError), chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            try:
                chain.output.save()
            finally:
                unwound.append(True)
        with tracer.invoke(x[1:]):
            chain.first.output.save()
            raise KeyError

    assert (unwound, leftovers(chain._module)) == ([True], [])


def test_a_block_sees_the_value_that_a_loop_around_it_had(chain, x):
    """The blocks run when the loop is over; each still means its own round."""
    seen = []
    with chain.trace() as tracer:
        for number in range(2):
            with tracer.invoke(x[number : number + 1]):
                seen.append(number)

    assert seen == [0, 1]


def test_a_name_that_one_block_binds_is_read_by_the_next(chain, x):
    """It has been bound when the model comes by later, also where it had a value before."""
    with chain.trace() as tracer:
        passed = None
        with tracer.invoke(x[:1]):
            passed = chain.first.output
        with tracer.invoke(x[1:]):
            chain.second.output  # the first block has bound the name by then
            shape = save(passed.shape)

    assert shape == (1, 4)


def test_a_read_beside_the_invokes_says_that_no_model_runs_there(chain):
    """The block of a trace without an input runs before the model, which is told in a note."""
    with pytest.raises(OutsideTraceError) as caught:
        with chain.trace():
            chain.first.output.save()

    assert "The trace has no input of its own" in caught.value.__notes__[0]

"""`with loss.backward():` - gradients in a trace."""

import contextlib

import pytest
import torch
from torch import Tensor, nn

from interp_components.errors import GradientError
from interp_components.tracing import Traceable
from tracer_core import save


def gradients(module, x, *names):
    """The gradients of the outputs of children for the sum of what the module returns, by torch alone."""
    kept = []
    handles = [module.get_submodule(name).register_forward_hook(lambda *a: kept.append(a[2])) for name in names]
    loss = module(x).pow(2).sum()
    for handle in handles:
        handle.remove()
    return torch.autograd.grad(loss, kept)


def test_gradients_are_those_of_torch(chain, x):
    """`.grad` of what was read is the gradient of the loss for it."""
    with chain.trace(x):
        first = chain.first.output
        second = chain.second.output
        with second.pow(2).sum().backward():
            of_second = second.grad.save()
            of_first = first.grad.save()

    expected = gradients(chain._module, x, "first", "second")
    assert [torch.equal(*pair) for pair in zip(expected, (of_first, of_second), strict=True)] == [True, True]


def test_an_assigned_gradient_is_what_the_pass_goes_on_with(chain, x):
    """What comes before in the model gets the gradient of what was assigned."""
    with chain.trace(x):
        first = chain.first.output
        second = chain.second.output
        with second.pow(2).sum().backward():
            second.grad = second.grad * 2
            of_first = first.grad.save()

    assert torch.equal(gradients(chain._module, x, "first")[0] * 2, of_first)


def test_a_gradient_is_served_as_often_as_it_is_asked_for(chain, x):
    """A second read at one place is the same passing."""
    with chain.trace(x):
        first = chain.first.output
        with chain.output.sum().backward():
            both = save([first.grad, first.grad])

    assert torch.equal(*both)


def test_outputs_of_one_operation_are_served_in_any_order(x):
    """Two parts of one split get their gradients together."""
    model = Traceable(nn.Identity())
    with model.trace(x.requires_grad_()):
        one, other = model.output.split(1)
        with (one * 2 + other * 3).sum().backward():
            read = save([other.grad, one.grad])

    assert [each.unique().item() for each in read] == [3.0, 2.0]


def test_the_gradient_of_a_weight_is_that_of_this_pass(chain, x):
    """A leaf is served like anything else, and torch accumulates into it afterwards."""
    weight = chain._module.second.weight
    with chain.trace(x):
        with chain.output.sum().backward():
            read = weight.grad.save()

    assert torch.equal(weight.grad, read)


def test_a_backward_without_with_is_torchs(chain, x):
    """The pass runs at once and fills the weights' gradients."""
    with chain.trace(x):
        returned = save([chain.output.sum().backward()])

    assert (returned, chain._module.first.weight.grad is not None) == ([None], True)


def test_each_invoke_has_a_backward_of_its_own(gpt2, ids):
    """Two invokes of one trace read the gradients of two single runs."""

    def single(row):
        with gpt2.trace(row):
            hidden = gpt2.transformer.h[1].output
            with gpt2.output.logits.pow(2).mean().backward():
                read = hidden.grad.save()
        return read

    one, other = ids.split(1)
    with gpt2.trace() as tracer:
        with tracer.invoke(one):
            hidden = gpt2.transformer.h[1].output
            with gpt2.output.logits.pow(2).mean().backward():
                of_one = hidden.grad.save()
        with tracer.invoke(other):
            others = gpt2.transformer.h[1].output
            with gpt2.output.logits.pow(2).mean().backward():
                of_other = others.grad.save()

    torch.testing.assert_close([of_one, of_other], [single(one), single(other)], rtol=0, atol=1e-6)


def test_an_assignment_in_one_invoke_reaches_its_own_rows_alone(chain, x):
    """The rows of other invokes keep their gradient."""
    with chain.trace() as tracer:
        with tracer.invoke(x):
            first, second = chain.first.output, chain.second.output
            with second.sum().backward():
                second.grad = second.grad * 0
                own = first.grad.save()
        with tracer.invoke(x):
            others = chain.first.output
            with chain.output.sum().backward():
                other = others.grad.save()

    assert (own.abs().max().item(), other.abs().max().item() > 0) == (0.0, True)


def test_values_of_a_backward_block_are_there_in_the_block_around(chain, x):
    """What the inner block binds goes on to the outer one."""
    with chain.trace(x):
        first = chain.first.output
        with chain.output.sum().backward():
            read = first.grad
        doubled = (read * 2).save()

    assert doubled.shape == (2, 4)


def test_a_second_backward_needs_a_retained_graph_only(chain, x):
    """`backward(retain_graph=True)` is as in torch."""
    with chain.trace(x):
        first = chain.first.output
        loss = chain.output.sum()
        with loss.backward(retain_graph=True):
            one = first.grad.save()
        with loss.backward():
            two = first.grad.save()

    assert torch.equal(one, two)


def test_a_gradient_of_what_requires_none_is_refused(chain, x):
    """The error says what to do."""
    with pytest.raises(GradientError, match=r"shape \(2, 4\), which does not require a gradient.*requires_grad_"):
        with chain.trace(x):
            given = chain.first.input
            with chain.output.sum().backward():
                _ = given.grad


def test_a_loss_without_gradients_is_refused(chain, x):
    """Under `no_grad` there is nothing to go back through."""
    with pytest.raises(GradientError, match=r"of a loss that does not require a gradient"):
        with torch.no_grad(), chain.trace(x):
            with chain.output.sum().backward():
                pass


def test_forward_order_is_refused(chain, x):
    """Gradients come from the end; asking for an early one first misses the late one."""
    with pytest.raises(GradientError, match="opposite order of the forward"), chain.trace(x):
        first, second = chain.first.output, chain.second.output
        with second.sum().backward():
            _ = first.grad
            _ = second.grad


def test_a_missed_gradient_can_be_caught_in_the_block(chain, x):
    """The error is raised at the request."""
    with chain.trace(x):
        first, second = chain.first.output, chain.second.output
        with second.sum().backward():
            _ = first.grad
            try:
                _ = second.grad
            except GradientError:
                caught = save(True)

    assert caught


def test_a_gradient_of_another_shape_is_refused(chain, x):
    """The error is raised where it is assigned."""
    with pytest.raises(GradientError, match=r"shape \(2, 3\) was assigned"), chain.trace(x):
        first = chain.first.output
        with chain.output.sum().backward():
            first.grad = torch.ones(2, 3)


def _well(model, x):
    with model.trace(x):
        first = model.first.output
        with model.output.sum().backward():
            _ = first.grad


def _raises(model, x):
    with model.trace(x):
        first = model.first.output
        with model.output.sum().backward():
            raise KeyError(first.grad.shape)


def _fails(model, x):
    with model.trace(x):
        loss = model.output.sum()
        with loss.backward():
            pass
        with loss.backward():
            pass


@pytest.mark.parametrize(
    ("traced", "error"),
    [pytest.param(_well, KeyError, id="well"), pytest.param(_raises, KeyError, id="block"),
     pytest.param(_fails, RuntimeError, id="pass")],
)  # fmt: skip
def test_torch_is_as_before(chain, x, leftovers, traced, error):
    """`Tensor.backward` and `Tensor.grad` are torch's own after a trace, on every path; and so is the module."""
    before = (Tensor.backward, "grad" in vars(Tensor), torch.is_grad_enabled())
    with contextlib.suppress(error):
        traced(chain, x)

    after = (Tensor.backward, "grad" in vars(Tensor), torch.is_grad_enabled())
    assert (after, leftovers(chain._module)) == (before, [])


def test_a_trace_without_backward_leaves_torch_alone(chain, x):
    """Only a block that names it has `Tensor.backward` changed for its run."""
    theirs = vars(Tensor)["backward"]
    with chain.trace(x):
        during = save([vars(Tensor)["back" + "ward"]])

    assert during == [theirs]

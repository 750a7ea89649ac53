"""Operations are read, edited, skipped, drilled and counted like modules."""

import itertools

import pytest
import torch
from tests.sources.conftest import Host
from torch import nn
from torch.utils.checkpoint import checkpoint

from interp_components.errors import InterpError, OutsideTraceError, SourceNotAvailable
from interp_components.interleaving import current
from interp_components.tracing import Traceable


def first_abs(host, x):
    return host.module.first(x).abs()


def rest(host, hidden, by=2.0, scale=3, steps=3):
    """What the model makes of the value of `abs_0`."""
    return host.module.second(torch.relu((hidden + by) * scale + steps + 1))


@pytest.mark.parametrize("name", ["abs_0", "hidden_0"])
def test_an_assigned_output_is_what_the_forward_goes_on_with(host, run, x, name):
    """Of a call and of a binding alike."""

    def block():
        operation = getattr(host.source, name)
        operation.output = operation.output * 2

    assert torch.equal(rest(host, first_abs(host, x) * 2), run(host, block))


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        return torch.neg(self.inner(x.abs()))


@pytest.mark.parametrize("first", ["x_abs_0", "self_inner_0", "inner"])
def test_a_call_around_what_was_read_is_ahead_still(first):
    """Its callee has been taken when an argument is computed; its firing comes after."""
    model = Traceable(Nested())
    x = torch.ones(1, 2)
    with model.trace(x):
        _ = model.source.x_abs_0.output
        _ = model.inner.output if first == "inner" else model.source.get(first).output
        model.source.torch_neg_0.output = torch.zeros(1, 2)
        result = model.output.save()

    assert torch.equal(result, torch.zeros(1, 2))


def test_the_output_of_a_return_is_what_the_function_returns(host, run, x):
    """A `return` is edited like any other operation."""

    def block():
        host.source.return_0.output = torch.zeros(1)

    assert torch.equal(torch.zeros(1), run(host, block))


def test_the_output_of_an_augmented_assignment_is_what_it_binds(host, run, x):
    """After the change in place."""

    def block():
        operation = host.source.hidden_iadd_0
        operation.output = operation.output - 1

    torch.testing.assert_close(host.module.second(torch.relu((first_abs(host, x) + 2) * 3 + 3)), run(host, block))


def test_inputs_are_the_call_s_arguments(host, run, x):
    """Positional and by keyword, as the text has them."""
    read = []

    run(host, lambda: read.append(host.source.self_shift_0.inputs))

    ((hidden,), keywords) = read[0]
    assert torch.equal(first_abs(host, x), hidden)
    assert keywords == {"by": 2.0}


def test_the_input_of_a_binding_is_the_value(host, run, x):
    """Before it is bound."""
    read = []

    run(host, lambda: read.append((host.source.hidden_0.input, host.source.hidden_0.inputs)))

    assert torch.equal(first_abs(host, x), read[0][0])
    assert read[0][1] == ((read[0][0],), {})


def test_an_assigned_input_replaces_the_first_argument_alone(host, run, x):
    """The others stay."""

    def block():
        host.source.self_shift_0.input = host.source.self_shift_0.input * 2

    assert torch.equal(rest(host, first_abs(host, x) * 2), run(host, block))


def test_assigned_inputs_replace_the_call_s_arguments(host, run, x):
    """All of them."""

    def block():
        host.source.self_shift_0.inputs = ((host.source.self_shift_0.input,), {"by": 5.0})

    assert torch.equal(rest(host, first_abs(host, x), by=5.0), run(host, block))


@pytest.mark.parametrize("value", [3, (1, 2), ((1,), {}, 3), [(1,), {}]], ids=["number", "tuple", "three", "list"])
def test_inputs_take_a_pair(host, run, value):
    """Anything else is refused before the model goes on with it."""

    def block():
        host.source.self_shift_0.inputs = value

    with pytest.raises(InterpError, match="it takes the pair"):
        run(host, block)


def test_a_method_is_called_on_its_receiver(host, run, x):
    """The receiver is not among the arguments."""
    read = []

    run(host, lambda: read.append(host.source.abs_0.inputs))

    assert read == [((), {})]


def test_a_call_without_arguments_has_no_input(host, run):
    """The error says so."""
    with pytest.raises(InterpError, match="called without arguments"):
        run(host, lambda: host.source.abs_0.input)


def test_a_skipped_call_is_not_made(host, run, x):
    """Its value is the one that is given."""
    calls = []
    host.module.act = lambda hidden: calls.append(hidden)

    result = run(host, lambda: host.source.self_act_0.skip(torch.ones(2, 4)))

    assert torch.equal(host.module.second(torch.ones(2, 4)), result)
    assert calls == []


def test_a_skipped_binding_binds_what_is_given(host, run, x):
    """A binding is skipped by giving the value."""
    result = run(host, lambda: host.source.hidden_0.skip(torch.ones(2, 4)))

    assert torch.equal(rest(host, torch.ones(2, 4)), result)


# Firings


def test_a_request_asks_for_the_next_firing(host, run, x):
    """Asked again, once the block has moved on, it is the one after."""
    read = []

    def block():
        for _ in range(3):
            read.append(host.source.torch_add_0.output.clone())
            host.source.hidden_3.output

    run(host, block)

    assert [round((after - before).mean().item(), 4) for before, after in itertools.pairwise(read)] == [1.0, 1.0]


def test_an_index_names_a_firing(host, run, x):
    """Counted from 0 since the run began."""
    read = []

    run(host, lambda: read.append(host.source.torch_add_0[2].output.clone()))

    torch.testing.assert_close((first_abs(host, x) + 2) * 3 + 3, read[0])


def test_a_firing_is_edited(host, run, x):
    """And no other."""

    def block():
        host.source.torch_add_0[1].output = host.source.torch_add_0[1].output + 10

    torch.testing.assert_close(rest(host, first_abs(host, x), steps=13), run(host, block))


@pytest.mark.parametrize("what", ["input", "skip"])
def test_a_firing_has_what_the_operation_has(host, run, x, what):
    """Inputs and skip."""

    def block():
        before = host.source.torch_add_0[0].output
        firing = host.source.torch_add_0[1]
        if what == "input":
            firing.input = before + 10
        else:
            firing.skip(before + 11)

    torch.testing.assert_close(rest(host, first_abs(host, x), steps=13), run(host, block))


def test_firings_are_iterated_until_the_model_is_done(host, run, x):
    """The loop ends with the model, and what stands after it runs."""
    read = []

    def block():
        read.extend(firing.output.clone() for firing in host.source.torch_add_0)
        read.append("after")

    run(host, block)

    assert (len(read), read[-1]) == (4, "after")


def test_a_firing_from_the_end_is_refused(host):
    """How many there will be is not known."""
    with pytest.raises(IndexError, match="counted from the front"):
        host.source.torch_add_0[-1]


def test_a_pinned_step_asks_for_that_firing(host, run, x):
    """As `tracer.iter` does."""
    read = []

    def block():
        with current("steps").pinned(1):
            read.append(host.source.torch_add_0.output.clone())

    run(host, block)

    assert torch.equal((first_abs(host, x) + 2) * 3 + 2, read[0])


class Sine(nn.Module):
    def forward(self, x):
        return x.sin()


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Sine()

    def forward(self, x):
        y = checkpoint(self.block, x, use_reentrant=False).sum()
        y.backward()
        return y


def test_the_second_forward_of_checkpointing_is_no_firing(run):
    """What a backward pass runs again is not served."""
    host = Host(Checkpointed())
    seen = []

    run(
        host,
        lambda: seen.extend(repr(firing) for firing in host.block.source.x_sin_0),
        call=lambda: host.module(torch.ones(3, requires_grad=True)),
    )

    assert seen == ["model.block.source.x_sin_0[0]"]


# Drilling


def test_a_call_is_drilled(host, run, x):
    """The operations of the called function are read like those of a forward."""
    read = []

    run(host, lambda: read.append(host.source.scaled_0.source.y_0.output))

    assert torch.equal((first_abs(host, x) + 2) * 3, read[0])


def test_a_drilled_method_is_edited(host, run, x):
    """It keeps its object."""

    def block():
        moved = host.source.self_shift_0.source.moved_0
        moved.output = moved.output + 1

    torch.testing.assert_close(rest(host, first_abs(host, x), by=3.0), run(host, block))


@pytest.mark.parametrize("is_input_first", [True, False])
def test_arguments_and_inside_are_read_in_either_order(host, run, is_input_first):
    """Asking what is called does not pass the arguments, nor the other way round."""
    read = []

    def block():
        operation = host.source.scaled_0
        if is_input_first:
            read.append(operation.input)
        source = operation.source
        if not is_input_first:
            read.append(operation.input)
        read.append(source.y_0.output)

    run(host, block)

    assert torch.equal(read[0] * 3, read[1])


def test_blocks_share_a_drilled_call(host, run, x):
    """Each reads its own operation of it."""
    read = []

    run(
        host,
        lambda: read.append(host.source.scaled_0.source.y_0.output),
        lambda: read.append(host.source.scaled_0.source.return_0.output),
    )

    assert torch.equal(read[0], read[1])


def test_a_drilled_call_is_guarded_at_its_later_firings(run):
    """A function that is called in a loop is drilled once."""

    def step(x):
        return x + 1

    class Loop(nn.Module):
        def forward(self, x):
            for _ in range(3):
                x = step(x)
            return x

    host = Host(Loop())
    read = []

    def block():
        for step in range(3):
            with current("steps").pinned(step):
                read.append(float(host.source.step_0.source.return_0.output))

    run(host, block, call=lambda: host.module(torch.zeros(())))

    assert read == [1.0, 2.0, 3.0]


def test_another_function_at_a_later_firing_is_drilled_anew(run):
    """What is called is looked at at every firing."""

    def one(x):
        first = x + 1
        return first

    def other(x):
        second = x + 10
        return second

    class Choosing(nn.Module):
        def forward(self, x):
            for function in (one, other):
                x = function(x)
            return x

    host = Host(Choosing())
    read = []

    def block():
        read.append(float(host.source.function_0.source.first_0.output))
        read.append(float(host.source.x_0.output))
        with current("steps").pinned(1):
            host.source.function_0.input
            read.append(float(host.source.function_0.source.second_0.output))

    host.source.names
    run(host, block, call=lambda: host.module(torch.zeros(())))

    assert read == [1.0, 1.0, 11.0]


def test_a_drilled_source_can_be_printed_after_the_run(host, run):
    """It keeps its text."""
    kept = []

    run(host, lambda: kept.append(host.source.scaled_0.source))

    assert "y = x * 3" in repr(kept[0])


def test_a_drilled_source_is_found_anew_in_each_run(host, run):
    """An object kept from another run says how to go on."""
    kept = []
    run(host, lambda: kept.append(host.source.scaled_0.source))

    with pytest.raises(SourceNotAvailable, match="was found in another run"):
        run(host, lambda: kept[0].y_0.output)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("hidden_0", "is an assignment", id="assignment"),
        pytest.param("return_0", "is a return", id="return"),
        pytest.param("hidden_iadd_0", "is an augmented assignment", id="augmented"),
        pytest.param("self_first_0", "calls a submodule, Linear", id="module"),
        pytest.param("torch_add_0", "has no Python source", id="builtin"),
        pytest.param("range_0", "is the class range", id="class"),
    ],
)
def test_what_cannot_be_drilled_says_why(host, run, name, reason):
    """A call of a Python function has operations inside; nothing else has."""
    with pytest.raises(SourceNotAvailable, match=reason):
        run(host, lambda: getattr(host.source, name).source)


def test_drilling_belongs_in_a_trace(host):
    """What a call runs is known when it is called."""
    with pytest.raises(SourceNotAvailable, match="only while the model runs"):
        host.source.scaled_0.source


@pytest.mark.parametrize("name", ["output", "input", "inputs"])
def test_values_belong_in_a_trace(host, name):
    """The error says how to go on."""
    with pytest.raises(OutsideTraceError, match=r"model\.source\.abs_0"):
        getattr(host.source.abs_0, name)


# As a node


def test_an_operation_is_a_node(host):
    """It has a path, a parent, a root, ends, and its line."""
    operation = host.source.abs_0

    assert ("model.source.abs_0", host.source, host, "model.source.abs_0.output", "model.source.abs_0.input") == (
        operation.path, operation.parent, operation.root, operation.location("output").path,
        operation.location("input").path,
    )  # fmt: skip
    assert host.source.labelled.lines[operation.line - host.source.labelled.first_line].strip().startswith("hidden =")


def test_a_node_leads_on_by_source_alone(host, run):
    """`get` drills."""
    found = []

    run(host, lambda: found.append(host.source.get("scaled_0.source.y_0")))

    assert found[0].path == "model.source.scaled_0.source.y_0"


def test_a_node_has_no_other_way_on(host):
    """The error names the one there is."""
    with pytest.raises(AttributeError, match="under `source`"):
        host.source.abs_0.get("weight")


def test_repr_names_the_line(host):
    """Path, kind and text."""
    shown = repr(host.source.scaled_0)

    assert shown.startswith("model.source.scaled_0: a call at ")
    assert shown.endswith("hidden = scaled(hidden)")

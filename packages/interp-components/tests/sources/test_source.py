"""`module.source`: the operations of a forward, guarded for a run and gone with it."""

import copy
import functools
import gc
import weakref

import pytest
import torch
from tests.sources.conftest import Host, Model
from torch import nn

from interp_components.errors import InterpError, OutOfOrderError, SourceNotAvailable
from interp_components.interleaving import Run, Worker
from interp_components.sources import ModuleSource, Operation

NAMES = (
    "self_first_0", "abs_0", "hidden_0", "self_shift_0", "hidden_1", "scaled_0", "hidden_2", "range_0", "torch_add_0",
    "hidden_3", "hidden_iadd_0", "self_act_0", "hidden_4", "self_second_0", "return_0",
)  # fmt: skip


def test_names_are_the_labels_in_order(host):
    """They are there outside of a trace."""
    assert host.source.names == NAMES


def test_a_source_is_a_container_of_its_operations(host):
    """It has a length, is iterated, and knows what is in it."""
    source = host.source

    assert (len(NAMES), list(NAMES), True, False) == (
        len(source), [operation.name for operation in source], "abs_0" in source, "abs_1" in source,
    )  # fmt: skip


def test_an_operation_is_one_object(host):
    """Asked twice, by attribute or by `get`, it is the same node."""
    assert host.source.abs_0 is host.source.get("abs_0")


def test_a_name_that_is_not_there_lists_the_others(host):
    """The error suggests the near ones and lists them all."""
    with pytest.raises(AttributeError) as error:
        host.source.hidden_9

    assert "'model.source' has no operation 'hidden_9'; did you mean 'hidden_" in str(error.value)
    assert f"available: {', '.join(NAMES)}" in str(error.value)


def test_print_shows_the_margin(host):
    """The code stands beside its labels."""
    assert "scaled_0" in repr(host.source)
    assert "hidden = scaled(hidden)" in repr(host.source)


def test_a_module_without_python_source_says_so():
    """A scripted module has no Python forward."""
    host = Host(nn.Sequential(nn.Linear(2, 2)))
    host.module.forward = torch.relu

    with pytest.raises(SourceNotAvailable, match=r"model\.source cannot be had: .*no Python source"):
        host.source.names


@pytest.mark.parametrize("name", NAMES)
def test_reading_an_operation_leaves_the_result_bit_identical(host, run, x, name):
    """An unedited read of any operation changes nothing."""
    expected = host.module(x)
    read = []

    result = run(host, lambda: read.append(getattr(host.source, name).output))

    assert torch.equal(expected, result)
    assert len(read) == 1


def test_reading_all_operations_at_once_leaves_the_result_bit_identical(host, run, x):
    """One block per operation."""
    blocks = [functools.partial(Operation.output.fget, operation) for operation in host.source]

    assert torch.equal(host.module(x), run(host, *blocks))


def test_the_module_is_as_before_after_a_run(host, run):
    """No attribute stays on it."""
    before = dict(host.module.__dict__)

    run(host, lambda: host.source.abs_0.output)

    assert before == host.module.__dict__


@pytest.mark.parametrize("forward", ["bound", "closure", "partial"])
def test_an_instance_forward_is_guarded_and_given_back(host, run, x, forward):
    """What was set on the instance is what runs, and what is there after the run."""
    module = host.module

    def own(x):
        return Model.forward(module, x) * 2

    module.forward = {
        "bound": lambda: own.__get__(module) if False else functools.partial(own),
        "closure": lambda: own,
        "partial": lambda: functools.partial(own),
    }[forward]()
    before, expected, read = module.forward, module(x), []

    result = run(host, lambda: read.append(host.source.Model_forward_0.output))

    assert module.__dict__["forward"] is before
    assert torch.equal(expected, result)
    assert torch.equal(expected, read[0] * 2)


def test_a_forward_under_hooks_of_accelerate_is_guarded(host, run, x):
    """accelerate replaces the forward and calls the one before; its operations are the ones that count."""
    hooks = pytest.importorskip("accelerate.hooks")
    hooks.add_hook_to_module(host.module, hooks.ModelHook())
    before, read = dict(host.module.__dict__), []

    run(host, lambda: read.append(host.source.abs_0.output))

    assert torch.equal(host.module.first(x).abs(), read[0])
    assert before == host.module.__dict__


def test_an_error_in_the_forward_leaves_the_module_as_before(host, run):
    """Also when a guarded operation fails."""

    def fail():
        host.source.abs_0.output = "no tensor"

    with pytest.raises(TypeError):
        run(host, fail)

    assert "forward" not in host.module.__dict__


def test_a_late_request_in_a_guarded_forward_is_served(host, run, x):
    """An operation may be asked for while its forward runs, once something of it was asked for before."""
    read = []

    def block():
        first = host.source.self_first_0.output
        read.append(host.source.abs_0.output)
        assert torch.equal(first.abs(), read[0])

    run(host, block)

    assert len(read) == 1


def test_a_forward_that_runs_unguarded_is_too_late(host, run):
    """Something inside the module was asked for first, so the module started without labels."""

    def block():
        host.first.output
        host.source.hidden_3.output

    with pytest.raises(SourceNotAvailable, match="while model was already running"):
        run(host, block)


def test_a_prepared_forward_is_not_too_late(host, run, x):
    """With `prepare` among the preparations of its output, the module starts with labels."""
    host._output.preparations = (host.source.prepare,)
    read = []

    def block():
        host.first.output
        read.append(host.source.abs_0.output)

    run(host, block)

    assert torch.equal(host.module.first(x).abs(), read[0])


def test_an_operation_that_was_passed_is_out_of_order(host, run):
    """A block moves with the model."""

    def block():
        host.source.hidden_3.output
        host.source.abs_0.output

    with pytest.raises(OutOfOrderError, match=r"model\.source\.abs_0\.output"):
        run(host, block)


def test_two_sources_of_one_module_serve_one_run(host, run, x):
    """A module that two trees wrap can be read through both."""
    other = Host(host.module)
    read = []

    def block():
        read.append(host.source.self_first_0.output)
        read.append(other.source.abs_0.output)

    run(host, block)

    assert torch.equal(read[0].abs(), read[1])


def test_a_run_inside_a_block_has_its_own_requests(host, run, x):
    """The inner run sees its own forward, and the outer one goes on."""
    inner, outer = [], []

    def block():
        outer.append(host.source.self_first_0.output)
        run(host, lambda: inner.append(host.source.abs_0.output), call=lambda: host.module(x * 0))
        outer.append(host.source.abs_0.output)

    run(host, block)

    assert torch.equal(host.module.first(x * 0).abs(), inner[0])
    assert torch.equal(host.module.first(x).abs(), outer[1])


def test_nothing_is_left_over_runs(host, run):
    """Objects do not pile up, without the garbage collector's help."""

    def block():
        host.source.self_shift_0.source.moved_0.output
        host.source.scaled_0.source.y_0.output

    for _ in range(3):
        run(host, block)
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(20):
            run(host, block)
        after = len(gc.get_objects())
    finally:
        gc.enable()

    assert after - before < 20


def test_a_run_is_not_kept_alive(host, x):
    """After the run nothing of a source points at it."""
    run = Run(host._input, [Worker(lambda: host.source.scaled_0.source.y_0.output)])
    run.execute(lambda: host.module(x))
    gone = weakref.ref(run)

    del run
    gc.collect()

    assert gone() is None


def read_inside(host):
    return host.source.scaled_0.source.y_0.output


def test_a_model_that_is_let_go_of_is_gone_at_once(run, x):
    """Sources, operations and drilled calls hold what is below them alone."""
    host = Host(Model())
    gone = weakref.ref(host.module)
    run(host, functools.partial(read_inside, host))
    operation = host.source.scaled_0

    gc.disable()
    try:
        del host
        assert gone() is None
    finally:
        gc.enable()
    with pytest.raises(InterpError, match="is gone"):
        operation.root


def test_a_copied_source_reads_the_copied_module(host):
    """Copying a tree copies its sources with it."""
    copied = copy.deepcopy(host)

    assert isinstance(copied.source, ModuleSource)
    assert copied.source._module is copied.module

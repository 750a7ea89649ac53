"""`with model.trace(x):` - what a block reads and edits, what is left afterwards, and how it fails."""

import asyncio
import gc
import threading
import traceback
import weakref

import pytest
import torch
from torch import nn

from interp_components.errors import (
    BatchError,
    NestedRunError,
    NoEffectError,
    NoEffectWarning,
    OutOfOrderError,
    OutsideTraceError,
)
from interp_components.interleaving import Place, Run, Worker
from interp_components.interleaving.gates import Gate
from interp_components.tracing import Trace, Traceable
from tracer_core import save


def test_a_read_is_what_the_module_returned(chain, x):
    """`.output` is the value that the forward passes on."""
    with chain.trace(x):
        read = chain.first.output.save()

    assert torch.equal(chain._module.first(x), read)


def test_an_assignment_is_what_the_model_goes_on_with(chain, x):
    """Assigning `.output` replaces the value for the rest of the forward."""
    with chain.trace(x):
        chain.first.output = chain.first.output * 2
        result = chain.output.save()

    assert torch.equal(chain._module.second(chain._module.first(x) * 2), result)


def test_an_edit_in_place_is_what_the_model_goes_on_with(chain, x):
    """The value that is read is the model's own tensor."""
    with torch.no_grad(), chain.trace(x):
        chain.first.output[:] = 0
        result = chain.output.save()

    assert torch.equal(chain._module.second.bias.expand(2, 4), result)


def test_an_assigned_input_replaces_the_first_argument(chain, x):
    """`.input` is the first argument alone."""
    with chain.trace(x):
        chain.second.input = x
        result = chain.output.save()

    assert torch.equal(chain._module.second(x), result)


def test_inputs_are_the_pair_of_arguments(chain, x):
    """`.inputs` is `(args, kwargs)`, and may be replaced whole."""
    with chain.trace(x):
        args, kwargs = chain.second.inputs
        chain.second.inputs = (args[0] * 0,), kwargs
        result = chain.output.save()

    assert torch.equal(chain._module.second(x * 0), result)


def test_a_skipped_module_does_not_run(chain, x):
    """`.skip(value)` gives the value as the module's output."""
    with chain.trace(x):
        chain.first.skip(x)
        result = chain.output.save()

    assert torch.equal(chain._module.second(x), result)


def test_a_module_can_be_skipped_after_its_input_was_read(chain, x):
    """Skipping needs nothing prepared before the input was served."""
    with chain.trace(x):
        chain.first.skip(chain.first.input)
        result = chain.output.save()

    assert torch.equal(chain._module.second(x), result)


def test_what_surrounds_an_asked_module_can_be_asked_next(gpt2, ids):
    """A module that runs already when its output is asked for serves it, when something in it was asked for before."""
    with torch.no_grad(), gpt2.trace(ids):
        gpt2.transformer.h[1].mlp.c_fc.output.save()
        mlp = gpt2.transformer.h[1].mlp.output.save()
        block = gpt2.transformer.h[1].output.save()
        logits = gpt2.output.logits.save()

    assert [mlp.shape, block.shape, logits.shape] == [(2, 8, 32), (2, 8, 32), (2, 8, 128)]


def test_a_trace_without_edits_changes_no_bit(gpt2, ids):
    """Reading everything leaves the model's result as it is."""
    with torch.no_grad():
        expected = gpt2._module(ids).logits
        with gpt2.trace(ids):
            for block in gpt2.transformer.h:
                block.attn.output[0].save()
                block.mlp.output.save()
                block.output.save()
            actual = gpt2.output.logits.save()

    assert torch.equal(expected, actual)


def test_nothing_is_on_the_modules_outside_a_trace(chain, x, leftovers):
    """The wrapped model is the bare model, before and after a trace."""
    before = leftovers(chain._module)
    with chain.trace(x):
        chain.first.input.save()
        chain.second.output.save()

    assert (before, leftovers(chain._module)) == ([], [])


def test_only_asked_modules_and_those_around_them_are_touched(gpt2, ids, leftovers):
    """A module that nobody asks for runs without anything of ours."""
    with torch.no_grad(), gpt2.trace(ids):
        gpt2.transformer.h[1].mlp.output.save()
        touched = save(leftovers(gpt2._module))

    assert touched == [".forward", "transformer.forward", "transformer.h.1.forward", "transformer.h.1.mlp.forward"]


def _block_raises(model, x):
    with model.trace(x):
        model.first.output.save()
        raise KeyError("of the block")


def _model_raises(model, x):
    with model.trace(x[:, :2]):
        model.second.output.save()


def _order(model, x):
    with model.trace(x):
        model.second.output.save()
        model.first.output.save()


def _interrupted(model, x):
    with model.trace(x):
        model.first.output.save()
        raise KeyboardInterrupt


def _first_line(model, x):
    with model.trace(x):
        raise LookupError("before the model runs")


FAILURES = pytest.mark.parametrize(
    ("fails", "error"),
    [
        pytest.param(_block_raises, KeyError, id="block"),
        pytest.param(_model_raises, RuntimeError, id="model"),
        pytest.param(_order, OutOfOrderError, id="order"),
        pytest.param(_interrupted, KeyboardInterrupt, id="interrupt"),
        pytest.param(_first_line, LookupError, id="first line"),
    ],
)


@FAILURES
def test_a_failed_trace_leaves_nothing(chain, x, leftovers, fails, error):
    """After any error the modules are as before."""
    with pytest.raises(error):
        fails(chain, x)

    assert leftovers(chain._module) == []


@FAILURES
def test_the_next_trace_works_after_a_failed_one(chain, x, fails, error):
    """An error leaves nothing that a later trace stumbles over."""
    with pytest.raises(error):
        fails(chain, x)
    with chain.trace(x):
        result = chain.output.save()

    assert torch.equal(chain._module(x), result)


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, StopIteration])
@pytest.mark.parametrize("after", range(6))
def test_an_exception_behind_any_request_leaves_nothing(chain, x, leftovers, after, error):
    """It comes out as it is, the modules are as before, and so is what the model returns."""
    requests = [
        lambda: chain.input,
        lambda: chain.first.inputs,
        lambda: setattr(chain.first, "output", x),
        lambda: chain.second.skip(x),
        lambda: chain.output.zero_(),
    ]

    with pytest.raises(error), chain.trace(x):
        for request in requests[:after]:
            request()
        raise error

    assert leftovers(chain._module) == []
    assert torch.equal(chain._module(x), chain._module.second(chain._module.first(x)))


@pytest.mark.parametrize("fails", [_block_raises, _order, _first_line], ids=["block", "order", "first line"])
def test_the_last_line_of_a_traceback_is_the_users(chain, x, fails):
    """What the block raises points at the line of the block, without frames of the engine or the model."""
    with pytest.raises((KeyError, OutOfOrderError, LookupError)) as caught:
        fails(chain, x)

    assert {frame.filename for frame in traceback.extract_tb(caught.tb)} == {__file__}


def test_an_order_error_names_what_was_read_before(chain, x):
    """The message says what was asked for and after what."""
    with pytest.raises(OutOfOrderError) as caught:
        _order(chain, x)

    assert "asked for model.first.output after model.second.output" in str(caught.value)


def test_an_order_error_lists_what_was_still_ahead(gpt2, ids):
    """The next places after the one that was read, without those inside of it."""
    with pytest.raises(OutOfOrderError) as caught, gpt2.trace(ids):
        gpt2.transformer.h[2].output.save()
        gpt2.transformer.h[0].output.save()

    assert "were model.transformer.ln_f.output, model.lm_head.output." in str(caught.value)


def test_an_order_error_can_be_caught_in_the_block(chain, x):
    """It is raised at the request."""
    with chain.trace(x):
        chain.second.output.save()
        try:
            chain.first.output.save()
        except OutOfOrderError:
            caught = save(True)

    assert caught


@pytest.mark.parametrize("name", ["output", "input", "inputs"])
def test_a_value_outside_a_trace_is_an_error_that_shows_the_way(chain, name):
    """The error is no `AttributeError`, and says what to write."""
    with pytest.raises(OutsideTraceError, match=rf"`model.first.{name}` outside of interleaving.*with model.trace"):
        getattr(chain.first, name)


def test_a_trace_needs_an_input_or_an_invoke(chain):
    """Without either there is nothing to run."""
    with pytest.raises(BatchError, match="has no input to run on"), chain.trace():
        pass


def test_an_invoke_in_a_running_model_is_refused(chain, x):
    """Inputs are collected before the model runs."""
    with pytest.raises(NestedRunError, match="already running"), chain.trace(x) as tracer:
        tracer.invoke(x)


def test_stop_leaves_the_model_at_that_place(chain, x):
    """What was read stays, and what comes after does not run."""
    ran = []
    handle = chain._module.second.register_forward_hook(lambda *_: ran.append(True))
    with chain.trace(x) as tracer:
        read = chain.first.output.save()
        tracer.stop()
    handle.remove()

    assert (ran, read.shape) == ([], (2, 4))


def test_the_result_is_what_the_call_returns(chain, x):
    """`tracer.result` waits for the end of the call."""
    with chain.trace(x) as tracer:
        result = tracer.result.save()

    assert torch.equal(chain._module(x), result)


def test_foreign_hooks_fire_in_torchs_order(chain, x):
    """A hook that was there before a trace changes what the trace reads."""
    handle = chain._module.first.register_forward_hook(lambda module, args, output: output + 1)
    with chain.trace(x):
        read = chain.first.output.save()
    expected = chain._module.first(x)
    still_there = len(chain._module.first._forward_hooks)
    handle.remove()

    assert (torch.equal(expected, read), still_there) == (True, 1)


def test_a_call_in_the_block_is_not_the_models(chain, x):
    """An envoy called in a block runs its module unseen."""
    with chain.trace(x):
        own = chain.second(x).save()
        passed = chain.second.output.save()

    assert (torch.equal(chain._module.second(x), own), torch.equal(chain._module(x), passed)) == (True, True)


def test_the_modes_of_a_block_are_its_own(chain, x):
    """`no_grad` entered in the block does not reach the model."""
    with chain.trace(x):
        with torch.no_grad():
            chain.first.output.save()
            seen = save(chain.second.output.requires_grad)
        result = chain.output.save()

    assert (seen, result.requires_grad) == (True, True)


def test_a_repeated_module_is_served_passing_by_passing(x):
    """Reads of one place get its passings in order."""

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.end = nn.Identity()

        def forward(self, x):
            return self.end(self.layer(self.end(self.layer(x))))

    model = Traceable(Twice())
    with model.trace(x):
        one = model.layer.output.save()
        model.end.output.save()
        two = model.layer.output.save()

    layer = model._module.layer
    assert (torch.equal(layer(x), one), torch.equal(layer(layer(x)), two)) == (True, True)


def test_a_receipt_lists_what_was_asked_for(chain, x):
    """Kind, place, occurrence and effect of each request, in order."""
    with chain.trace(x) as tracer:
        chain.first.output = chain.first.output + 1
        chain.second.skip(x)

    entries = [(entry.kind.value, entry.location, entry.occurrence, entry.seen) for entry in tracer.receipt]
    assert entries == [
        ("read", "model.first.output", 0, True),
        ("write", "model.first.output", 0, True),
        ("skip", "model.second.input", 0, True),
    ]


def _whole(model):
    model.first.output[:] = 0


def _element(model):
    args, _ = model.second.inputs
    args[0].mul_(2)


def _at_the_end(model):
    model.second.output.zero_()


@pytest.mark.parametrize("edit", [_whole, _element, _at_the_end])
def test_a_change_in_place_is_an_edit_in_the_receipt(chain, x, edit):
    """What was read and changed while the model waited is no mere read."""
    with chain.trace(x) as tracer:
        edit(chain)

    assert [(entry.kind.value, entry.seen) for entry in tracer.receipt] == [("edit", True)]


def test_a_receipt_prints_as_a_table(chain, x):
    """One line a request, with the line of the block that made it."""
    with chain.trace(x) as tracer:
        chain.first.output[:] = 0
        chain.second.output = x

    head, edit, write = repr(tracer.receipt).splitlines()
    line = test_a_receipt_prints_as_a_table.__code__.co_firstlineno + 3
    assert head == "kind   location             occurrence  rows  line               seen"
    assert edit == f"edit   model.first.output   0           all   test_trace.py:{line}  yes"
    assert write == f"write  model.second.output  0           all   test_trace.py:{line + 1}  yes"


def test_a_change_elsewhere_makes_no_edit(chain, x):
    """What the block changes of its own, or the model itself changes, is no edit of what was read."""
    with chain.trace(x) as tracer:
        own = chain.first.output.clone()
        own.zero_()
        chain.second.output

    assert [entry.kind.value for entry in tracer.receipt] == ["read", "read"]


def test_a_change_in_place_is_told_of_the_invoke_that_made_it(chain, x):
    """Blocks that look at the same batch are told apart."""
    with chain.trace() as tracer:
        with tracer.invoke(x):
            chain.first.output
        with tracer.invoke(x):
            chain.first.output.zero_()

    assert [(entry.kind.value, entry.worker) for entry in tracer.receipt] == [("read", 0), ("edit", 1)]


def test_a_receipt_in_inference_mode_tells_reads(chain, x):
    """Tensors of inference mode do not count their changes."""
    with torch.inference_mode(), chain.trace(x) as tracer:
        chain.first.output[:] = 0

    assert [entry.kind.value for entry in tracer.receipt] == ["read"]


def test_an_overwritten_edit_is_an_error_in_a_strict_trace(chain, x):
    """The model goes on with the last of two assignments only."""
    with pytest.raises(NoEffectError, match=r"write of model.first.output"), chain.trace(x, strict=True):
        chain.first.output = x
        chain.first.output = x * 2


def test_an_edit_that_is_not_reached_warns(chain, x):
    """An edit that waits when another block stops the model is named."""
    with pytest.warns(NoEffectWarning, match=r"write of model.second.output at .*test_trace.py"):
        with chain.trace() as tracer:
            with tracer.invoke(x):
                chain.first.output.save()
                tracer.stop()
            with tracer.invoke(x):
                chain.second.output = x


def test_a_trace_in_a_block_is_a_run_of_its_own(chain, x):
    """The outer run does not see the inner one."""
    with chain.trace(x):
        with chain.trace(x * 2):
            inner = chain.first.output
        outer = save([inner, chain.first.output])

    assert [torch.equal(chain._module.first(each), read) for each, read in zip((x * 2, x), outer, strict=True)] == [
        True,
        True,
    ]


def test_a_session_carries_values_from_trace_to_trace(chain, x):
    """Names of one trace are there in the next, and only what is saved leaves."""
    with chain.session():
        with chain.trace(x):
            kept = chain.first.output
        with chain.trace(x * 2):
            chain.first.output = kept
            result = chain.output.save()

    assert torch.equal(chain._module(x), result)


def test_another_method_can_be_traced(chain, x):
    """`fn=` names what runs."""
    with chain.trace(x, fn="repeat", times=2) as tracer:
        result = tracer.result.save()

    assert (torch.equal(chain._module.repeat(x, 2), result), tracer.steps) == (True, 2)


def test_threads_on_one_model_see_their_own_runs(chain):
    """Five threads trace one model at once, and each reads its own values."""
    wrong = []

    def work(number):
        own = torch.full((1, 4), float(number))
        expected = chain._module.first(own)
        for _ in range(20):
            with chain.trace(own):
                read = chain.first.output.save()
                chain.output.save()
            if not torch.equal(expected, read):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_a_bare_call_in_another_thread_is_not_served(chain, x):
    """A run watches the forward it started and no other."""
    seen = []

    def bare():
        seen.append(chain._module(x * 3))

    with chain.trace(x):
        chain.first.output.save()
        thread = threading.Thread(target=bare)
        thread.start()
        thread.join()
        chain.second.output = x

    assert torch.equal(chain._module(x * 3), seen[0])


def test_tasks_trace_one_model_in_turn(chain, x):
    """Under asyncio each task has its own trace."""

    async def task(scale):
        await asyncio.sleep(0)
        with chain.trace(x * scale):
            read = chain.first.output.save()
        return torch.equal(chain._module.first(x * scale), read)

    async def tasks():
        return await asyncio.gather(*(task(float(scale)) for scale in range(4)))

    assert asyncio.run(tasks()) == [True] * 4


@pytest.mark.parametrize("fails", [None, _block_raises, _order], ids=["well", "block", "order"])
def test_traces_leave_no_objects(chain, x, fails):
    """What a run is made of goes with it, without a pass of the collector."""

    def once():
        try:
            if fails is None:
                with chain.trace(x):
                    chain.first.output.save()
            else:
                fails(chain, x)
        except (KeyError, OutOfOrderError):
            return

    once()
    gc.collect()
    gc.disable()
    for _ in range(50):
        once()
    left = [each for each in gc.get_objects() if type(each) in {Run, Place, Worker, Gate, Trace}]
    gc.enable()

    assert left == []


def test_a_kept_tracer_does_not_keep_the_model(x):
    """The receipt and the count of steps need no module, and the block's names are let go of."""

    def traced():
        module = nn.Linear(4, 4)
        model = Traceable(module)
        with model.trace(x) as tracer:
            _ = model.output
        return tracer, weakref.ref(module)

    tracer, gone = traced()

    assert (gone(), tracer.steps) == (None, 1)


def test_two_thousand_traces_keep_the_memory_flat(chain, x):
    """The number of objects does not grow with the number of traces."""

    def many(times):
        for _ in range(times):
            with chain.trace(x):
                chain.first.output.save()
        gc.collect()
        return len(gc.get_objects())

    many(20)
    assert many(2000) - many(20) < 20


def test_a_trace_runs_once(chain, x):
    """Another run is another trace."""
    with chain.trace(x) as tracer:
        pass

    with pytest.raises(NestedRunError, match="write another"):
        tracer.execute()

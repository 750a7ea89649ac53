"""A trace without edits is the plain forward bit for bit, and so is what runs after a trace of any kind."""

import pytest
import torch
from tests.engine.zoo import LONG

IDS = torch.tensor([LONG])


def edited(model):
    with model.trace(LONG):
        model.layers[0].layer_output[:] = 0


def failed(model):
    with pytest.raises(ZeroDivisionError), model.trace(LONG):
        model.layers[0].layer_output[:] = 0
        _ = 1 / 0


def stopped(model):
    with model.trace(LONG) as tracer:
        model.layers[0].layer_output[:] = 0
        tracer.stop()


def kept_and_cleared(model):
    with model.edit(inplace=True):
        model.layers[0].layer_output[:] = 0
    edited(model)
    model.clear_edits()


def attachments(model):
    """What stands on the modules; transformers leaves hooks of its own where hidden states were asked for once."""
    modules = model._module.named_modules()
    return {
        path: (set(each.__dict__), list(each._forward_hooks), list(each._forward_pre_hooks)) for path, each in modules
    }


@pytest.mark.parametrize("before", [edited, failed, stopped, kept_and_cleared])
def test_what_runs_after_a_trace_is_as_it_was(model, before):
    """The bare model and the next trace have every bit of the bare model before it, and nothing of ours is left on it."""
    expected, attached = model._module(IDS).logits, attachments(model)
    before(model)
    with model.trace(LONG):
        traced = model.logits.save()

    assert torch.equal(expected, model._module(IDS).logits)
    assert torch.equal(expected, traced)
    assert attached == attachments(model)

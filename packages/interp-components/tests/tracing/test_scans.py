"""`with model.scan(x):` - shapes without work."""

import copy

import torch

from interp_components.tracing import Traceable


def test_a_scan_gives_the_shapes_of_a_run(gpt2, ids):
    """Nothing is computed, and the model is as before."""
    with gpt2.scan(ids):
        shape = gpt2.transformer.h[1].output.shape.save()

    assert shape == (2, 8, 32)


def test_a_model_without_weights_can_be_scanned(gpt2_module, ids):
    """A model on the meta device runs, and stays there."""
    model = Traceable(copy.deepcopy(gpt2_module).to("meta"))
    with model.scan(ids):
        shape = model.transformer.h[1].output.shape.save()

    assert (shape, model.device) == ((2, 8, 32), torch.device("meta"))

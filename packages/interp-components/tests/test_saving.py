"""`save` for tensors."""

import pytest
import torch

from interp_components import save
from tracer_core import SaveOutsideTrace, Tracer


def test_a_tensor_comes_back_as_the_object_that_was_saved() -> None:
    """Without `copy` the very tensor is handed back."""
    tensor = torch.arange(3)
    with Tracer():
        kept = tensor.save()

    assert kept is tensor


def test_a_copy_does_not_follow_later_edits() -> None:
    """With `copy` the values are those of the moment."""
    tensor = torch.zeros(3, requires_grad=True).clone()
    with Tracer():
        kept = save(tensor, copy=True)
        tensor.add_(1)

    assert kept.tolist() == [0, 0, 0]
    assert not kept.requires_grad


def test_a_device_implies_a_copy() -> None:
    """What is put on a device is no longer the tensor that was saved."""
    tensor = torch.zeros(3)
    with Tracer():
        kept = tensor.save(device="cpu")

    assert kept is not tensor
    assert kept.device.type == "cpu"


def test_a_device_for_what_is_no_tensor_is_refused() -> None:
    """A list is on no device."""
    with pytest.raises(TypeError, match="only a tensor is on a device"), Tracer():
        save([1], device="cpu")


def test_a_helper_outside_of_a_trace_is_told() -> None:
    """A tensor's own `save` refuses like the function."""
    with pytest.raises(SaveOutsideTrace):
        torch.zeros(1).save()

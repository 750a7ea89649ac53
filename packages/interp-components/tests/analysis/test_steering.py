"""A direction added to the stream of every run."""

from __future__ import annotations

import pytest
import torch

from interp_components.analysis import SteeringError, steer, steering_vector
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects

TO_MARY = "When Mary and John went to the shop, John gave a ring to"
TO_JOHN = "When Mary and John went to the shop, Mary gave a ring to"
PROMPT = "Mary and John sat in the garden, and Mary gave a letter to"


def test_a_steered_model_is_what_a_hook_does(model: StandardizedTransformer) -> None:
    """In every family, at one position of one block."""
    vector = torch.randn(model.hidden_size, generator=torch.Generator().manual_seed(2))

    def add(_: object, args: object, output: object) -> None:
        (output[0] if isinstance(output, tuple) else output)[:, -1] += 0.5 * vector  # type: ignore[index]  # a tensor

    handle = model.layers[0]._module.register_forward_hook(add)
    with torch.no_grad():
        expected = model._module(subjects.prompts(0)).logits
    handle.remove()
    with torch.no_grad(), steer(model, vector, 0, factor=0.5, positions=-1).trace(subjects.prompts(0)) as tracer:
        logits = tracer.result.logits.save()

    torch.testing.assert_close(logits, expected)


def test_a_direction_between_prompts_changes_the_answer(toy: StandardizedTransformer) -> None:
    """In a trace and while generating; the model itself stays as it was."""
    vector = steering_vector(toy, TO_MARY, TO_JOHN, layer=2)
    steered = steer(toy, vector, layers=2, positions=-1)
    said = []
    for each in (toy, steered):
        with each.trace(PROMPT):
            probs = each.next_token_probs.save()
        said.append(next(iter(toy.probs_to_dict(probs[0], 1))))
    with steered.generate(PROMPT, max_new_tokens=5, do_sample=False) as tracer:
        ids = tracer.result.save()

    assert said == [" John", " Mary"]
    assert toy.tokenizer is not None
    assert toy.tokenizer.decode(ids[0, -5:]).startswith(" letter to Mary")


def test_a_vector_is_a_difference_of_means(llama: StandardizedTransformer) -> None:
    """Over prompts, at a position, behind a block."""
    with torch.no_grad():
        streams = [
            llama._module(subjects.prompts(seed), output_hidden_states=True).hidden_states[1][:, 3].mean(0)
            for seed in (0, 1)
        ]

    found = steering_vector(llama, subjects.prompts(0), subjects.prompts(1), 0, position=3)

    torch.testing.assert_close(found, streams[0] - streams[1])


def test_a_vector_of_another_width_is_refused(llama: StandardizedTransformer) -> None:
    """With both widths."""
    with pytest.raises(SteeringError, match=rf"\(3,\), and the stream is \[{models.HIDDEN}\]"):
        steer(llama, torch.zeros(3), 0)

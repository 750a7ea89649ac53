"""Hidden states of one prompt in another."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from interp_components.analysis import patchscope
from interp_components.model import InputError, StandardizedTransformer
from tests import models

from . import subjects

SOURCE, TARGET = subjects.prompts(0, rows=1), subjects.prompts(1, rows=1, length=5)


def by_hooks(model: StandardizedTransformer, layer: int, target_layer: int) -> Tensor:
    """The last logits when the stream behind one block of the source is put behind a block of the target; torch alone."""
    kept: list[Tensor] = []

    def keep(_: Any, args: Any, output: Any) -> None:
        kept.append((output[0] if isinstance(output, tuple) else output).clone())

    def put(_: Any, args: Any, output: Any) -> None:
        (output[0] if isinstance(output, tuple) else output)[:, -2] = kept[0][:, 3]

    with torch.no_grad():
        handle = model.layers[layer]._module.register_forward_hook(keep)
        model._module(SOURCE)
        handle.remove()
        handle = model.layers[target_layer]._module.register_forward_hook(put)
        logits: Tensor = model._module(TARGET).logits[0, -1]
        handle.remove()
    return logits


@pytest.mark.parametrize("target_layer", [None, 0], ids=["own", "first"])
def test_a_patchscope_is_what_hooks_do(model: StandardizedTransformer, target_layer: int | None) -> None:
    """All blocks at once, in every family."""
    found = patchscope(model, SOURCE, TARGET, target_layer=target_layer, source_position=3, target_position=-2)
    expected = [
        by_hooks(model, layer, layer if target_layer is None else target_layer) for layer in range(models.LAYERS)
    ]

    torch.testing.assert_close(found.logits, torch.stack(expected), rtol=1e-4, atol=1e-5)


def test_what_is_generated_begins_with_the_likeliest_token(toy: StandardizedTransformer) -> None:
    """The first generated token is the top one, and the model goes on from there."""
    source = "When Mary and John went to the shop, John gave a ring to"
    found = patchscope(toy, source, source.replace("John gave", "Mary gave"), max_new_tokens=3)

    assert found.ids is not None
    assert found.ids[:, 0].tolist() == found.logits.argmax(-1).tolist()
    assert [next(iter(top)) for top in found.top(1)] == [" John", " John", " Mary", " Mary"]
    assert [text.split()[0].strip(".") for text in found.texts] == [
        "John.<|endoftext|>",
        "John.<|endoftext|>",
        "Mary",
        "Mary",
    ]
    assert repr(found) == "Patchscope[layer=4] ' John', ' John', ' Mary', ' Mary'"


def test_nothing_is_generated_unless_asked_for(llama: StandardizedTransformer) -> None:
    """Texts are empty then."""
    found = patchscope(llama, SOURCE, TARGET, layers=[1])

    assert (found.layers, found.ids, found.texts) == ((1,), None, [""])


def test_several_prompts_are_refused(llama: StandardizedTransformer) -> None:
    """With how many there are."""
    with pytest.raises(InputError, match="the source of a patchscope is one prompt, and this is 2"):
        patchscope(llama, subjects.prompts(0), TARGET)

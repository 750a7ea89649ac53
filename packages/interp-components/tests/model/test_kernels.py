"""`eager=`: attention written out in Python for one run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import Gemma2Config, GPT2Config, LlamaConfig, MistralConfig, PreTrainedConfig

from interp_components.errors import Unavailable
from interp_components.model import StandardizedTransformer
from interp_components.model.kernels import added
from tests import models

CONFIGS: dict[str, Callable[[], PreTrainedConfig]] = {
    "gpt2": lambda: GPT2Config(n_embd=24, n_layer=2, n_head=4, vocab_size=models.VOCAB, **models.TOKENS),
    "llama": lambda: LlamaConfig(**models.llama_like()),
    "gemma2": lambda: Gemma2Config(**models.llama_like(sliding_window=3)),
    "mistral": lambda: MistralConfig(**models.llama_like(sliding_window=3)),
}
Kernel = bool | list[int]
EAGER = [pytest.param(True, id="all"), pytest.param([1], id="one")]

# The layer in front runs another kernel, which adds the same numbers up in another order; values are of order 1 to 10.
CLOSE = {"rtol": 0.0, "atol": 2e-5}


@pytest.fixture(params=CONFIGS)
def config(request: pytest.FixtureRequest) -> Callable[[], PreTrainedConfig]:
    """What makes the config of an architecture."""
    return CONFIGS[request.param]


def fast(config: Callable[[], PreTrainedConfig]) -> StandardizedTransformer:
    """The model with the kernel that transformers chooses: sdpa, and for gemma2 eager, which has no other here."""
    made = config()
    return StandardizedTransformer(models.build(made, "eager" if isinstance(made, Gemma2Config) else "sdpa"))


def slow(config: Callable[[], PreTrainedConfig]) -> StandardizedTransformer:
    """The same model, loaded as eager."""
    return StandardizedTransformer(models.build(config(), "eager"))


def traced(model: StandardizedTransformer, given: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """The pattern of layer 1 and the logits of a trace."""
    with torch.no_grad(), model.trace(given, **options):
        pattern = model.layers[1].self_attn.attention_probabilities.save()
        logits = model.logits.save()
    return pattern, logits


def generated(model: StandardizedTransformer, **options: Any) -> tuple[list[Tensor], Tensor]:
    """The patterns of layer 1 at each step, and the ids."""
    given = models.inputs(padded=False)["input_ids"][:1]
    with model.generate(given, max_new_tokens=4, do_sample=False, **options) as tracer:
        patterns = [model.layers[1].self_attn.attention_probabilities for _ in tracer.iter[:]].save()
        ids = tracer.result.save()
    return patterns, ids


@pytest.mark.parametrize("eager", EAGER)
@pytest.mark.parametrize("padded", [pytest.param(False, id="full"), pytest.param(True, id="padded")])
def test_patterns_are_those_of_a_model_loaded_as_eager(config: Any, padded: bool, eager: Kernel) -> None:
    """Also where the mask has padding or a window; what queries of padding see is nobody's."""
    given = models.inputs(padded)
    is_token = given["attention_mask"].bool()

    pattern, logits = traced(fast(config), given, eager=eager)

    expected_pattern, expected_logits = traced(slow(config), given)
    torch.testing.assert_close(pattern.transpose(1, 2)[is_token], expected_pattern.transpose(1, 2)[is_token], **CLOSE)
    torch.testing.assert_close(logits[is_token], expected_logits[is_token], **CLOSE)


@pytest.mark.parametrize("eager", EAGER)
def test_generation_is_that_of_a_model_loaded_as_eager(config: Any, eager: Kernel) -> None:
    """Each step has its pattern over the keys in the cache."""
    patterns, ids = generated(fast(config), eager=eager)

    expected_patterns, expected_ids = generated(slow(config))
    assert torch.equal(ids, expected_ids)
    torch.testing.assert_close(patterns, expected_patterns, **CLOSE)


def test_other_layers_keep_their_kernel() -> None:
    """Their patterns are refused as before, with the way to ask."""
    model = fast(CONFIGS["llama"])

    with model.trace(models.inputs(), eager=[-1]):
        with pytest.raises(Unavailable, match="ask for one trace with eager=True"):
            model.layers[0].self_attn.attention_probabilities
        pattern = model.layers[1].self_attn.attention_probabilities.save()

    assert pattern.shape == (models.BATCH, models.HEADS, models.SEQ, models.SEQ)


def state(model: StandardizedTransformer) -> list[Any]:
    """What a run sets: the kernel that each module goes by, and what is on modules."""
    modules = list(model._module.modules())
    own = [(id(vars(each).get("config")), "forward" in vars(each), len(each._forward_pre_hooks)) for each in modules]
    return [own, model.attn_implementation]


@pytest.mark.parametrize("eager", EAGER)
@pytest.mark.parametrize("error", [None, KeyError, KeyboardInterrupt], ids=["well", "error", "interrupt"])
def test_the_model_is_as_before(eager: Kernel, error: type[BaseException] | None) -> None:
    """After the run, and after whatever ended it."""
    model = fast(CONFIGS["llama"])
    before = state(model)

    def run() -> None:
        with model.trace(models.inputs(), eager=eager):
            model.layers[1].self_attn.attention_probabilities
            if error is not None:
                raise error

    if error is None:
        run()
    else:
        with pytest.raises(error):
            run()

    assert state(model) == before


def test_threads_wait_for_the_run_that_is_set_otherwise() -> None:
    """A run beside it has the kernel that the model is loaded with."""
    model = fast(CONFIGS["gpt2"])
    given = models.inputs()
    refused: list[Exception] = []

    def ask() -> None:
        try:
            traced(model, given)
        except Unavailable as error:
            refused.append(error)

    other = threading.Thread(target=ask)
    with model.trace(given, eager=True):
        other.start()
        pattern = model.layers[1].self_attn.attention_probabilities.save()
    other.join()

    assert (len(refused), pattern.shape[0]) == (1, models.BATCH)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        pytest.param([2], r"eager=\[2\] names layer 2; the model has 2, from 0 to 1", id="no such layer"),
        pytest.param(
            [0], r"the other layers run 'flex_attention', whose masks the eager forward cannot be given", id="kernel"
        ),
    ],
)
def test_what_cannot_be_set_is_refused(layers: Iterable[int], message: str) -> None:
    """Before anything runs."""
    model = fast(CONFIGS["llama"])
    if layers == [0]:
        model._module.config._attn_implementation = "flex_attention"

    with pytest.raises(ValueError, match=message):
        model.trace(models.inputs(), eager=layers)


def test_an_invoke_has_no_kernel_of_its_own() -> None:
    """All invokes are one run of the model."""
    model = fast(CONFIGS["llama"])

    with pytest.raises(ValueError, match="eager= belongs to the trace"), model.trace() as tracer:
        with tracer.invoke(models.inputs(), eager=True):
            pass


def test_a_mask_that_is_added_already_stays() -> None:
    """Whoever gives a mask of numbers means it."""
    mask = torch.full((1, 1, 2, 2), -3.0)

    assert added(mask, torch.zeros(1, 2, 4)) is mask


@pytest.mark.parametrize(
    ("count", "is_causal"), [pytest.param(1, True, id="one query"), pytest.param(3, False, id="encoder")]
)
def test_no_mask_stays_none_where_every_position_is_seen(count: int, is_causal: bool) -> None:
    """A single query after a cache sees all keys, as an encoder does."""
    assert added(None, torch.zeros(1, count, 4), is_causal=is_causal) is None

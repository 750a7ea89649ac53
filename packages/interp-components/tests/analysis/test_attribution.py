"""What each part says about the answer by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BloomConfig, LlamaConfig, OPTConfig

from interp_components.analysis import Attribution, TargetCollision, direct_logit_attribution
from interp_components.errors import Unavailable
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


@pytest.fixture(scope="module", params=sorted(subjects.CONFIGS))
def both(request: pytest.FixtureRequest) -> tuple[StandardizedTransformer, Attribution]:
    """A tiny model of each of some families, under its usual kernel, and an attribution with everything in it."""
    model = subjects.model(request.param)
    return model, direct_logit_attribution(model, subjects.prompts(0), 5, 11, neurons=True)


def test_the_parts_add_up_to_the_difference_at_the_head(both: tuple[StandardizedTransformer, Attribution]) -> None:
    """Which torch's own hook sees."""
    model, found = both
    seen: list[Tensor] = []
    handle = model.lm_head._module.register_forward_hook(lambda module, args, output: seen.append(output))
    with torch.no_grad():
        model._module(subjects.prompts(0))
    handle.remove()
    parts = found.embedding + found.attention.sum(0) + found.mlp.sum(0) + found.constant

    torch.testing.assert_close(found.total, subjects.margin(seen[0]), **CLOSE)
    torch.testing.assert_close(parts, found.total, **CLOSE)


def test_heads_and_neurons_add_up_to_their_modules(both: tuple[StandardizedTransformer, Attribution]) -> None:
    """Up to the bias of the projection, which is no head's and no neuron's and so the same for all prompts of one scale."""
    model, found = both
    assert found.heads is not None
    assert found.attention_bias is not None
    assert found.neurons is not None
    assert found.mlp_bias is not None

    assert tuple(found.heads.shape) == (models.LAYERS, models.HEADS, 2)
    torch.testing.assert_close(found.heads.sum(1) + found.attention_bias, found.attention, **CLOSE)
    torch.testing.assert_close(found.neurons.sum(1) + found.mlp_bias, found.mlp, **CLOSE)
    has_bias = getattr(model.layers[0].self_attn.o_proj._module, "bias", None) is not None
    assert bool((found.attention_bias.abs() > 1e-4).any()) is has_bias


def test_a_head_is_what_it_writes_along_the_normed_direction() -> None:
    """By hand for Llama: its slice of the output projection, scaled by the last norm, read by two rows of the head."""
    model = subjects.model("llama", "sdpa")
    module: Any = model._module
    kept: dict[str, Tensor] = {}
    handles = [
        module.model.layers[1].self_attn.o_proj.register_forward_pre_hook(lambda _, args: kept.update(heads=args[0])),
        module.model.norm.register_forward_pre_hook(lambda _, args: kept.update(stream=args[0])),
    ]
    with torch.no_grad():
        module(subjects.prompts(0))
    for handle in handles:
        handle.remove()
    scale = (kept["stream"][:, -1].square().mean(-1, keepdim=True) + module.model.norm.variance_epsilon).sqrt()
    direction = module.model.norm.weight * (module.lm_head.weight[5] - module.lm_head.weight[11]) / scale
    slots = slice(2 * model.head_dim, 3 * model.head_dim)
    written = kept["heads"][:, -1, slots] @ module.model.layers[1].self_attn.o_proj.weight[:, slots].T
    found = direct_logit_attribution(model, subjects.prompts(0), 5, 11)

    assert found.heads is not None
    torch.testing.assert_close(found.heads[1, 2], (written * direction).sum(-1).detach(), **CLOSE)


def test_an_odd_width_has_all_its_weights() -> None:
    """The norm's last weight is read off as well."""
    config = LlamaConfig(**models.llama_like(hidden_size=25, num_attention_heads=5, num_key_value_heads=5))
    model = StandardizedTransformer(models.build(config))
    found = direct_logit_attribution(model, subjects.prompts(0), 5, 11)
    with torch.no_grad():
        logits = model._module(subjects.prompts(0)).logits

    torch.testing.assert_close(found.total, subjects.margin(logits), **CLOSE)
    torch.testing.assert_close(
        found.embedding + found.attention.sum(0) + found.mlp.sum(0) + found.constant, found.total, **CLOSE
    )


def test_one_token_alone_is_its_logit(llama: StandardizedTransformer) -> None:
    """Without a second one there is nothing to subtract."""
    with torch.no_grad():
        logits = llama._module(subjects.prompts(0)).logits
    found = direct_logit_attribution(llama, subjects.prompts(0), 5, heads=False)

    torch.testing.assert_close(found.total, logits[:, -1, 5], **CLOSE)
    assert found.heads is None


def test_each_prompt_has_its_own_answer(toy: StandardizedTransformer) -> None:
    """The same prompt asked both ways gives opposite numbers."""
    prompt = "When Mary and John went to the shop, John gave a ring to"
    found = direct_logit_attribution(toy, [prompt, prompt], [" Mary", " John"], [" John", " Mary"])

    assert found.heads is not None
    assert found.total[0].item() == pytest.approx(7.14, abs=0.05)
    torch.testing.assert_close(found.heads[..., 0], -found.heads[..., 1])
    assert repr(found).startswith("Attribution of ")


@pytest.mark.parametrize(
    "config",
    [
        lambda: BloomConfig(
            **subjects.NATIVE_SIZES, n_layer=2, n_head=models.HEADS, apply_residual_connection_post_layernorm=True
        ),
        lambda: OPTConfig(
            **subjects.NATIVE_SIZES,
            word_embed_proj_dim=models.HIDDEN_OF_HEADS,
            ffn_dim=models.INTERMEDIATE,
            num_hidden_layers=2,
            num_attention_heads=models.HEADS,
            do_layer_norm_before=False,
        ),
    ],
    ids=["bloom_on_norms", "opt_post_norm"],
)
def test_a_stream_that_is_no_sum_is_refused(config: Callable[[], Any]) -> None:
    """The norms are in the stream's way, so nothing adds up."""
    model = StandardizedTransformer(models.build(config()))

    with pytest.raises(Unavailable, match=r"no norm behind its blocks|not the sum"):
        direct_logit_attribution(model, subjects.prompts(0), 5, 11)


def test_two_words_of_one_token_are_refused(toy: StandardizedTransformer) -> None:
    """Their difference is nothing."""
    with pytest.raises(TargetCollision, match="both begin with token"):
        direct_logit_attribution(toy, "Emma went to", " Mary", " Mary")

"""Falcon, in its four shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from transformers import FalconConfig

from interp_components.standard import Root
from tests import models

from .contract import FamilyContract
from .subject import MASK_IS_AN_ARGUMENT, RECOMPUTED
from .truth import Native, Recording, attention_truth, block_truth

PARALLEL = {"resid_mid": "both read the stream that enters it"}
SHARED_INPUT = frozenset({"self_attn.attention_input", "mlp.mlp_input"})


def config(**changes: Any) -> Callable[[], FalconConfig]:
    return lambda: FalconConfig(
        vocab_size=models.VOCAB,
        hidden_size=models.HIDDEN_OF_HEADS,
        num_hidden_layers=models.LAYERS,
        num_attention_heads=models.HEADS,
        ffn_hidden_size=models.INTERMEDIATE,
        max_position_embeddings=64,
        **models.TOKENS,
        **changes,
    )


def native(**changes: Any) -> Native:
    return Native(
        **{
            "embed_tokens": "transformer.word_embeddings",
            "layers": "transformer.h",
            "norm": "transformer.ln_f",
            "attention": "self_attention",
            "down_proj": "mlp.dense_4h_to_h",
            # The block adds into this tensor after the MLP has returned it; the recording copies it before.
            "mlp_output": "mlp.dense_4h_to_h",
            "resid_mid": None,
            **changes,
        }
    )


class FalconContract(FamilyContract):
    """Recomputes attention from the fused projection."""

    native = native()
    order = MASK_IS_AN_ARGUMENT

    @classmethod
    def truth(cls, recording: Recording, layer: int) -> dict[str, Tensor]:
        """Split and rotate here; alibi is in the mask, and eager adds it to the scores once more."""
        at = f"{cls.native.layers}.{layer}.self_attention"
        call = recording.calls[at]
        query, key, value = cls.heads(recording.calls[f"{at}.query_key_value"].tensor)
        if not cls.config().alibi:
            cos, sin = call.kwargs["position_embeddings"]
            query, key = (each * cos[:, None] + _half_turned(each) * sin[:, None] for each in (query, key))
        mask, scale = call.kwargs["attention_mask"], query.shape[-1] ** -0.5
        found = attention_truth(query, key, value, mask, scale)
        if (alibi := call.kwargs["alibi"]) is not None:
            with_alibi = mask + alibi.view(models.BATCH, models.HEADS, 1, -1) * scale
            found = attention_truth(query, key, value, with_alibi, scale) | {"attention_mask": mask}
        return block_truth(recording, cls.native, layer) | {f"self_attn.{name}": each for name, each in found.items()}

    @classmethod
    def heads(cls, fused: Tensor) -> list[Tensor]:
        """Queries, keys and values of each head, out of what the one projection gives."""
        raise NotImplementedError


def _half_turned(heads: Tensor) -> Tensor:
    first, second = heads.chunk(2, -1)
    return torch.cat([-second, first], -1)


def _by_head(*parts: Tensor) -> list[Tensor]:
    return [part.transpose(1, 2) for part in parts]


class TestMultiQuery(FalconContract):
    """7B: one head of keys and values, one norm, attention and MLP side by side."""

    config = staticmethod(config())
    absent: ClassVar = PARALLEL
    spreads = SHARED_INPUT

    @classmethod
    def heads(cls, fused: Tensor) -> list[Tensor]:
        split = fused.view(models.BATCH, models.SEQ, models.HEADS + 2, -1)
        return _by_head(split[..., :-2, :], split[..., -2:-1, :], split[..., -1:, :])


class Grouped(FalconContract):
    """Heads in groups, whose keys and values are repeated before anything can be read."""

    absent: ClassVar = PARALLEL

    @classmethod
    def heads(cls, fused: Tensor) -> list[Tensor]:
        each = models.HEADS // models.KV_HEADS
        split = fused.view(models.BATCH, models.SEQ, models.KV_HEADS, each + 2, -1)
        query, key, value = split[..., :-2, :].flatten(2, 3), split[..., -2, :], split[..., -1, :]
        return _by_head(query, key.repeat_interleave(each, 2), value.repeat_interleave(each, 2))

    @classmethod
    def axis_sizes(cls, root: Root) -> dict[str, set[int]]:
        """As read, keys and values have a head for each query head."""
        return super().axis_sizes(root) | {"num_kv_heads": {root.num_heads}}


class TestTwoNorms(Grouped):
    """40B and 180B: a norm for attention and one for the MLP."""

    config = staticmethod(config(new_decoder_architecture=True, num_kv_heads=models.KV_HEADS))


class TestOneNorm(Grouped):
    """11B: one norm for both."""

    config = staticmethod(
        config(new_decoder_architecture=True, num_kv_heads=models.KV_HEADS, num_ln_in_parallel_attn=1)
    )
    spreads = SHARED_INPUT


class TestAlibi(FalconContract):
    """1B: positions by alibi, attention and MLP one after the other."""

    config = staticmethod(config(alibi=True, multi_query=False, parallel_attn=False, bias=True))
    native = native(resid_mid="post_attention_layernorm")
    differs_under_sdpa: ClassVar = {
        "self_attn.attention_head_outputs": "eager attention adds alibi twice, by the mask and by itself; sdpa once"
    }

    @classmethod
    def heads(cls, fused: Tensor) -> list[Tensor]:
        split = fused.view(models.BATCH, models.SEQ, models.HEADS, 3, -1)
        return _by_head(split[..., 0, :], split[..., 1, :], split[..., 2, :])


@pytest.mark.parametrize("family", [TestMultiQuery, TestTwoNorms, TestAlibi], ids=lambda family: family.__name__)
@pytest.mark.parametrize("name", ["attention_keys", "attention_values"])
def test_keys_and_values_are_there_without_a_cache(family: type[FalconContract], name: str) -> None:
    """A config that turns the cache off moves them, and they are the same."""
    root = models.wrap(family.built())
    seen: list[Tensor] = []

    def read() -> None:
        seen.append(getattr(root.layers[0].self_attn, name).clone())

    models.run(root, read)
    root._module.config.use_cache = False
    models.run(root, read)

    torch.testing.assert_close(seen[1], seen[0], **RECOMPUTED)

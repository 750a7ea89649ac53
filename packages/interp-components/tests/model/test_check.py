"""`model.check()`: what holds is said, and what does not is found and named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.model import standins
from torch import Tensor
from transformers.models.gpt2.modeling_gpt2 import GPT2MLP, GPT2Attention, GPT2Block

from interp_components import standard
from interp_components.display import Finding, Report
from interp_components.families import gpt2
from interp_components.layouts import HeadOutputs, Pattern, Residual
from interp_components.model import StandardizedTransformer
from interp_components.properties import DerivedEProperty, EProperty, unavailable


def checked(**options: Any) -> Report:
    model = standins.gpt2()
    model.set_attn_implementation("eager")
    return StandardizedTransformer(model, tokenizer=standins.tokenizer(), **options).check("ab cd")


def failed(report: Report) -> dict[str, str]:
    return {finding.what: finding.says for finding in report.failures}


class PreNorm(gpt2.Attention):
    """Serves as its contribution what is no contribution."""

    attention_output = EProperty("../ln_1.output")


class Flat(gpt2.Attention):
    """Heads side by side under a layout that has them apart."""

    @EProperty("o_proj.input")
    def attention_head_outputs(self, value: Tensor) -> HeadOutputs:
        return value


class Turned(gpt2.Attention):
    """An axis of another size than its name has."""

    @EProperty("source.attention_interface_1.source.nn_functional_dropout_0.output")
    def attention_probabilities(self, value: Tensor) -> Pattern:
        return value.transpose(1, 2)


class Unmasked(gpt2.Attention):
    """Scores that are not those that enter the softmax."""

    attention_scores = EProperty("source.attention_interface_1.source.torch_matmul_0.output")


class Moved(gpt2.Attention):
    """An operation that this release does not have."""

    @EProperty("source.attention_interface_1.source.no_such_op_0.output")
    def attention_probabilities(self, value: Tensor) -> Pattern:
        return value


def _broken(mlp: Any) -> Residual:
    raise ZeroDivisionError("of its own")


class Raising(standard.Mlp):
    """A value whose own code fails."""

    mlp_output = DerivedEProperty(_broken)


class Lacking(standard.Mlp):
    """A value that is not there, and says so."""

    mlp_activations = unavailable("left out on purpose")


class Wrong(standard.Layer):
    """Another residual identity than the model's."""

    def recomposed(self, layer_input: Tensor, attention_output: Tensor, mlp_output: Tensor) -> Tensor:
        return layer_input + attention_output - mlp_output


class Impossible(standard.Layer):
    """A residual identity that cannot be computed."""

    def recomposed(self, layer_input: Tensor, attention_output: Tensor, mlp_output: Tensor) -> Tensor:
        return self.no_such_norm(layer_input)  # type: ignore[no-any-return]  # the lookup fails


def test_a_model_that_is_what_its_family_says_passes() -> None:
    """Each value and identity has one line for all blocks."""
    report = checked()
    found = [finding.what for finding in report.findings]

    assert report.ok
    assert len(set(found)) == len(found)
    assert {"logits", "layers.layer_output", "layers.self_attn.attention_probabilities"} <= set(found)
    assert {finding.outcome for finding in report.findings} == {"ok"}


@pytest.mark.parametrize(
    ("envoys", "what", "says"),
    [
        pytest.param(
            {GPT2Attention: PreNorm},
            "layers.layer_input + attention_output + mlp_output == layer_output",
            "of the largest number, more than 1e-04",
            id="no_contribution",
        ),
        pytest.param(
            {GPT2Attention: Flat},
            "layers.self_attn.attention_head_outputs",
            "float32 [1, 5, 16] is no HeadOutputs [batch seq num_heads head_dim]",
            id="rank",
        ),
        pytest.param(
            {GPT2Attention: Turned},
            "layers.self_attn.attention_probabilities",
            "as Pattern [batch num_heads query key]: num_heads is 5, not 2, query is 2, not 5",
            id="axes",
        ),
        pytest.param(
            {GPT2Attention: Unmasked},
            "layers.self_attn.attention_scores.softmax(-1) == attention_probabilities",
            "of the largest number",
            id="scores",
        ),
        pytest.param(
            {GPT2Attention: Moved},
            "layers.self_attn.attention_probabilities",
            "SourceNotAvailable: model.transformer.h.0.attn.attention_probabilities reads",
            id="moved",
        ),
        pytest.param({GPT2MLP: Raising}, "layers.mlp.mlp_output", "ZeroDivisionError: of its own", id="raises"),
        pytest.param(
            {GPT2Block: Wrong},
            "layers.recomposed(layer_input, attention_output, mlp_output) == layer_output",
            "of the largest number",
            id="identity",
        ),
        pytest.param(
            {GPT2Block: Impossible},
            "layers.recomposed(layer_input, attention_output, mlp_output) == layer_output",
            "cannot be computed: AttributeError",
            id="identity_raises",
        ),
    ],
)
def test_what_does_not_hold_is_named(envoys: Any, what: str, says: str) -> None:
    """With what was found there, and nothing else hides it."""
    report = checked(envoys=envoys)

    assert not report.ok
    assert says in failed(report)[what]


def test_a_family_whose_projection_is_another_is_named() -> None:
    """The last stream has to project to the logits."""
    family = SimpleNamespace(
        __name__="elsewhere.odd",
        RENAME=gpt2.RENAME,
        ENVOYS=gpt2.ENVOYS,
        intermediate_size=gpt2.intermediate_size,
        project_on_vocab=lambda model, hidden: 2 * model.lm_head(model.norm(hidden)),
    )

    assert list(failed(checked(family=family))) == ["project_on_vocab(last layer_output) == logits"]


def test_blocks_that_differ_are_named_by_number() -> None:
    """A failure in the second of three blocks is one line that names it, beside the line of the others."""
    report = checked(envoys={"transformer.h.1.mlp": Raising})
    lines = [(finding.outcome, finding.says) for finding in report.findings if finding.what == "layers.mlp.mlp_output"]

    assert lines == [
        ("ok", "0, 2: float32 [1, 5, 16]"),
        ("failed", "1: ZeroDivisionError: of its own"),
    ]


def test_a_value_that_is_not_there_is_no_failure() -> None:
    """It is named with its reason."""
    report = checked(envoys={GPT2MLP: Lacking})

    assert report.ok
    assert Finding("layers.mlp.mlp_activations", "absent", "left out on purpose") in report.findings


def test_without_a_tokenizer_token_ids_are_run() -> None:
    """The prompt is made of the vocabulary."""
    report = StandardizedTransformer(standins.gpt2()).check()

    assert report.ok
    assert Finding("input_ids", "ok", "int64 [2, 7]") in report.findings


def test_the_prompt_may_be_any_input_of_a_trace() -> None:
    """Padded texts, for example."""
    assert StandardizedTransformer(standins.llama(), tokenizer=standins.tokenizer()).check(["ab", "cdefg"]).ok


def test_a_model_in_training_is_checked_without_dropout_and_stays_in_training() -> None:
    """Each module keeps its mode."""
    model = standins.gpt2()
    model.train()
    model.transformer.h[0].eval()
    modes = [module.training for module in model.modules()]

    assert StandardizedTransformer(model).check().ok
    assert [module.training for module in model.modules()] == modes


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=["double", "bfloat16"])
def test_the_tolerance_follows_the_precision(dtype: torch.dtype) -> None:
    """A model in another precision passes as well, and the report says within what."""
    report = StandardizedTransformer(standins.gpt2().to(dtype)).check()
    within = {finding.says for finding in report.findings if finding.says.startswith("within")}

    assert report.ok
    assert within == {"within 1e-10" if dtype == torch.float64 else "within 5e-02"}

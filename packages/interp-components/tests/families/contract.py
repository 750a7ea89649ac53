"""What every family keeps: `class TestMistral(FamilyContract)` runs all of it on a tiny random model.

What a family's file says of its architecture is in `subject`. What is its own besides goes into tests of its own.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from interp_components.model import StandardizedTransformer
from interp_components.standard import Root
from tests import models

from .reads import Reads
from .subject import ATTENTION_VALUES, BLOCK_VALUES, RECOMPUTED, at, refusal, value_of
from .truth import Recording
from .writes import Writes


class FamilyContract(Reads, Writes):
    """The suite; a subclass is one architecture, or one branch of it that moves a value."""

    # What is said

    @pytest.mark.parametrize("layer", range(models.LAYERS))
    def test_support_is_true(self, root: Root, layer: int) -> None:
        """The table has the values of the contract, and a reason for exactly those that the family lacks."""
        table = root.support(layer)

        assert set(BLOCK_VALUES) <= table.keys()
        assert {name for name in BLOCK_VALUES if table[name] is not None} == self.absent.keys()

    def test_what_is_not_there_says_why(self, root: Root) -> None:
        """The reason is in the table and in the error."""
        table = root.support(0)
        errors = {name: refusal(root, *at(root, 0, name)) for name in self.absent}

        assert [name for name, part in self.absent.items() if part not in str(table[name])] == []
        assert [name for name, part in self.absent.items() if part not in errors[name]] == []

    def test_every_value_stands_in_the_repr(self, root: Root) -> None:
        """`print(model)` has the line of each value."""
        printed = repr(root)
        hosts = {host for host, _ in (at(root, 0, name) for name in BLOCK_VALUES)}

        assert [str(value) for host in hosts for value in host.values().values() if str(value) not in printed] == []

    def test_sizes_are_those_of_the_config(self, root: Root) -> None:
        """The root's and the modules' sizes agree."""
        attention, mlp = root.layers[0].self_attn, root.layers[0].mlp
        names = ("num_heads", "num_kv_heads", "head_dim", "qk_head_dim")

        assert [getattr(attention, name) for name in names] == [getattr(root, name) for name in names]
        assert (mlp.intermediate_size, root.num_layers) == (root.intermediate_size, models.LAYERS)

    # All of it

    @pytest.mark.parametrize("attention", ["eager", "sdpa"])
    def test_a_check_of_the_model_finds_nothing_wrong(self, attention: str) -> None:
        """Every value is looked at, and those are absent that the family lacks."""
        if attention == "sdpa" and not self.has_sdpa:
            pytest.skip("the architecture cannot be loaded with sdpa")
        report = StandardizedTransformer(self.built(attention)).check()
        absent = {finding.what for finding in report.findings if finding.outcome == "absent"}
        lacking = self.absent_under_sdpa if attention == "sdpa" else self.absent

        assert report.failures == ()
        assert absent >= {f"layers.{name}" for name in lacking}

    def test_one_script_runs_on_every_architecture(self) -> None:
        """Read, patch, steer, skip, project and generate by standard names alone."""
        model = StandardizedTransformer(self.built())
        clean, patched, skipped = everyday(model)

        assert clean.shape == patched.shape == skipped.shape == (models.BATCH, models.SEQ, model.vocab_size)
        assert not torch.allclose(patched, clean, **RECOMPUTED)
        assert not torch.allclose(skipped, clean, **RECOMPUTED)

    # Under the fused kernel

    def test_a_value_is_there_under_sdpa(self, sdpa_root: Root, root: Root, under_sdpa: str) -> None:
        """What surrounds attention is what plain hooks see; what enters it is what eager attention is given."""
        if under_sdpa in self.absent_under_sdpa:
            assert self.absent_under_sdpa[under_sdpa] in refusal(sdpa_root, *at(sdpa_root, 0, under_sdpa))
            return
        if under_sdpa in self.differs_under_sdpa:
            pytest.skip(self.differs_under_sdpa[under_sdpa])
        if under_sdpa in ATTENTION_VALUES:
            # Without padding, since a query that may look nowhere looks everywhere in eager attention alone.
            read, _ = value_of(sdpa_root, *at(sdpa_root, 0, under_sdpa), padded=False)
            expected, _ = value_of(root, *at(root, 0, under_sdpa), padded=False)
        else:
            read, _ = value_of(sdpa_root, *at(sdpa_root, 0, under_sdpa))
            expected = self.truth(Recording(sdpa_root._module, models.inputs()), 0)[under_sdpa]

        torch.testing.assert_close(read, expected, **RECOMPUTED)


def everyday(model: StandardizedTransformer) -> tuple[Tensor, Tensor, Tensor]:
    """What people do with a model, in the words of no architecture: the logits as they are, patched, and skipped."""
    prompts = models.inputs(padded=False)
    with model.trace(prompts):
        embeddings = model.token_embeddings.clone().save()
        contributions = []
        for layer in model.layers:
            contributions.append(layer.self_attn.attention_output.clone())
            contributions.append(layer.mlp.mlp_output.clone())
        last = model.layers[-1].layer_output.clone().save()
        clean = model.logits.save()
        contributions.save()
    with model.trace(prompts):
        model.layers[0].self_attn.attention_output = contributions[0].flip(0)
        model.layers[0].mlp.mlp_output[:, -1] = 0
        model.steer(1, torch.ones(model.hidden_size), factor=0.5)
        patched = model.logits.save()
    with model.trace(prompts):
        model.skip_layers(0, -1)
        skipped = model.logits.save()
    with model.generate(prompts, max_new_tokens=2, min_new_tokens=2) as tracer:
        written = tracer.result.save()

    assert embeddings.shape[:2] == last.shape[:2] == (models.BATCH, models.SEQ)
    assert len(contributions) == 2 * model.num_layers
    with torch.no_grad():
        torch.testing.assert_close(model.project_on_vocab(last), clean, **RECOMPUTED)
    assert written.shape == (models.BATCH, models.SEQ + 2)
    return clean, patched, skipped

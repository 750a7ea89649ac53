"""What a family keeps of its values as they are read."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from interp_components.model import StandardizedTransformer
from interp_components.standard import Layer, Root
from tests import models

from .subject import RECOMPUTED, ROOT_VALUES, FamilySubject, at, descriptor_of, value_of
from .truth import Recording, root_truth


class Reads(FamilySubject):
    """Values are what they are by plain PyTorch, and reading them changes nothing."""

    @pytest.mark.parametrize("value", ROOT_VALUES)
    def test_a_root_value_is_what_plain_hooks_see(self, root: Root, recording: Recording, value: str) -> None:
        """Embeddings, last norm and logits, and reading them changes nothing."""
        read, logits = value_of(root, root, value)

        assert torch.equal(read, root_truth(recording, self.native)[value])
        assert torch.equal(logits, recording.logits)

    @pytest.mark.parametrize("layer", range(models.LAYERS))
    def test_a_value_is_what_it_is_by_plain_pytorch(
        self, root: Root, recording: Recording, present: str, layer: int
    ) -> None:
        """Recorded by hooks, or recomputed from what hooks recorded."""
        read, _ = value_of(root, *at(root, layer, present))

        torch.testing.assert_close(read, self.truth(recording, layer)[present], **RECOMPUTED)

    def test_one_block_reads_all_values(self, root: Root, recording: Recording) -> None:
        """In the order of the forward, each as it is when it is read alone."""
        names = [name for name in self.order if name in self.present()]
        seen: list[Tensor] = []
        models.run(root, lambda: seen.extend(getattr(*at(root, 0, name)).clone() for name in names))
        truth = self.truth(recording, 0)

        torch.testing.assert_close(seen, [truth[name] for name in names], **RECOMPUTED)

    def test_a_read_leaves_the_run_bit_identical(self, root: Root, recording: Recording, present: str) -> None:
        """The model computes the same bits with a value read as without us."""
        _, logits = value_of(root, *at(root, 0, present))

        assert torch.equal(logits, recording.logits)

    def test_a_value_has_the_layout_it_says(self, root: Root, present: str) -> None:
        """Rank and kind of number are the layout's, and each axis has the size that its name has elsewhere."""
        host, name = at(root, 0, present)
        descriptor = descriptor_of(host, name)
        read, _ = value_of(root, host, name)
        sizes = self.axis_sizes(root)
        sizes["num_heads"] = {*sizes["num_heads"], 1} if name == "attention_mask" else sizes["num_heads"]

        assert isinstance(read, descriptor.layout)
        assert [size in sizes[axis] for axis, size in zip(descriptor.dims, read.shape, strict=True)] == [
            True
        ] * read.ndim

    @pytest.mark.parametrize("name", ["attention_keys", "attention_values"])
    def test_keys_and_values_come_out_of_the_cache(self, name: str) -> None:
        """At each step of a generation they are those of all tokens so far that the block can see."""
        if f"self_attn.{name}" in self.absent:
            pytest.skip("the family does not have them")
        model = StandardizedTransformer(self.built())
        seen: list[int] = []
        with model.generate(models.inputs(padded=False), max_new_tokens=3, min_new_tokens=3) as tracer:
            for _ in tracer.iter[:3]:
                seen += [getattr(model.layers[0].self_attn, name).shape[2]]

        assert tuple(seen) == self.cached

    def test_a_pattern_is_a_distribution_over_what_may_be_seen(self, root: Root) -> None:
        """Rows sum to 1, or to less with a sink, and nothing looks ahead."""
        if "self_attn.attention_probabilities" in self.absent:
            pytest.skip("the family has no pattern")
        pattern, _ = value_of(root, root.layers[0].self_attn, "attention_probabilities")
        ahead = torch.triu(torch.ones(models.SEQ, models.SEQ, dtype=torch.bool), diagonal=1)

        # A row of the padding may look nowhere, and then looks everywhere alike.
        assert bool((pattern[0][:, ahead] == 0).all())
        assert bool(torch.allclose(pattern.sum(-1), torch.ones(())) is self.row_sums)

    @pytest.mark.parametrize("layer", range(models.LAYERS))
    def test_the_contributions_add_up_to_the_output(self, root: Root, recording: Recording, layer: int) -> None:
        """The block's output is its input and the contributions, put together as the family does."""
        block: Layer = root.layers[layer]
        parts = self.truth(recording, layer)
        names = ("layer_input", "self_attn.attention_output", "mlp.mlp_output")
        again = block.recomposed(*(parts[name] for name in names))

        torch.testing.assert_close(again, parts["layer_output"], **RECOMPUTED)

    def test_the_last_stream_projects_to_the_logits(self, root: Root, recording: Recording) -> None:
        """`project_on_vocab` is what the model itself does at the end."""
        last = self.truth(recording, models.LAYERS - 1)["layer_output"]
        with torch.no_grad():
            projected = root.project_on_vocab(last)

        torch.testing.assert_close(projected, recording.logits, **RECOMPUTED)

"""Mixtral, and what a mixture of experts has besides an MLP."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from transformers import MixtralConfig

from interp_components.errors import Unavailable
from interp_components.interleaving import Batch, Rows, Run, Worker
from interp_components.standard import Moe, Root
from tests import models

from .contract import FamilyContract
from .subject import RECOMPUTED
from .truth import Native, Recording

EXPERTS = 5
TOP_K = 4
VALUES = ("router_logits", "expert_indices", "expert_weights", "expert_outputs", "routed_output")


def config(**changes: Any) -> MixtralConfig:
    return MixtralConfig(**models.llama_like(num_local_experts=EXPERTS, num_experts_per_tok=TOP_K, **changes))


class TestMixtral(FamilyContract):
    """Four of five experts for each token."""

    config = staticmethod(config)
    # There is no last projection of the mixture; the value that would be read from it is absent.
    native = Native(down_proj="mlp.experts")
    absent: ClassVar = {"mlp.mlp_activations": "those of its experts"}

    @pytest.fixture(scope="class")
    @classmethod
    def expected(cls, root: Root, recording: Recording) -> dict[str, Tensor]:
        """Every expert for every token, one after the other, then the chosen ones."""
        call, mixture = recording.calls["model.layers.0.mlp"], root._module.model.layers[0].mlp
        experts = mixture.experts
        with torch.no_grad():
            logits = call.first @ mixture.gate.weight.T
            weights, indices = logits.softmax(-1).topk(TOP_K)
            outputs = torch.stack([_expert(experts, each, call.first) for each in range(EXPERTS)], -2)
        weights = weights / weights.sum(-1, keepdim=True)
        chosen = outputs.gather(-2, indices[..., None].expand(*indices.shape, models.HIDDEN)) * weights[..., None]
        return {
            "router_logits": logits,
            "expert_indices": indices,
            "expert_weights": weights,
            "expert_outputs": chosen,
            "routed_output": chosen.sum(-2),
        }

    @pytest.mark.parametrize("name", VALUES)
    def test_a_value_of_the_mixture_is_recomputed(self, root: Root, expected: dict[str, Tensor], name: str) -> None:
        """By row and position, and of the layout that it says."""
        seen: list[Tensor] = []
        models.run(root, lambda: seen.append(getattr(root.layers[0].mlp, name)))

        torch.testing.assert_close(seen[0], expected[name], **RECOMPUTED)
        assert isinstance(seen[0], Moe.values()[name].layout)

    @pytest.mark.parametrize("name", VALUES)
    def test_writing_back_what_was_read_from_the_mixture_changes_nothing(
        self, root: Root, recording: Recording, name: str
    ) -> None:
        """Bit for bit."""
        mixture = root.layers[0].mlp
        logits = models.run(root, lambda: setattr(mixture, name, getattr(mixture, name).clone()))

        assert torch.equal(logits, recording.logits)

    @pytest.mark.parametrize("name", VALUES)
    @pytest.mark.parametrize("in_place", [True, False], ids=["in_place", "assigned"])
    def test_an_edit_in_the_mixture_moves_the_logits(
        self, root: Root, recording: Recording, name: str, in_place: bool
    ) -> None:
        """Of the last token of the first row, by another choice, weight or output."""
        mixture = root.layers[0].mlp

        def block() -> None:
            value = getattr(mixture, name)
            edited = value if in_place else value.clone()
            edited[0, -1] = edited[0, -1].roll(1, 0) if value.is_floating_point() else (edited[0, -1] + 1) % EXPERTS
            if not in_place:
                setattr(mixture, name, edited)

        logits = models.run(root, block)

        assert torch.equal(logits[1:], recording.logits[1:])
        assert torch.equal(logits[0, :-1], recording.logits[0, :-1])
        # The sum of the experts does not mind which of them is which.
        assert torch.allclose(logits[0, -1], recording.logits[0, -1], **RECOMPUTED) is (name == "expert_outputs")

    def test_a_block_sees_its_own_rows(self, root: Root, expected: dict[str, Tensor]) -> None:
        """Of the one list of tokens that the router keeps."""
        mixture, batch = root.layers[0].mlp, Batch(models.BATCH)
        seen: dict[int, Tensor] = {}

        def block(row: int) -> None:
            seen[row] = mixture.router_logits

        workers = [
            Worker(lambda: block(0), Rows(0, 1, batch)),
            Worker(lambda: block(1), Rows(1, 2, batch)),
        ]
        with torch.no_grad():
            Run(root._input, workers, batch).execute(lambda: root._module(**models.inputs()))

        torch.testing.assert_close(torch.cat([seen[0], seen[1]]), expected["router_logits"], **RECOMPUTED)

    def test_the_sizes_of_a_mixture_are_those_of_its_config(self, root: Root) -> None:
        """Experts, chosen experts, and the neurons of one."""
        mixture = root.layers[0].mlp

        assert (mixture.num_experts, mixture.top_k, mixture.intermediate_size) == (EXPERTS, TOP_K, models.INTERMEDIATE)

    def test_there_is_no_shared_expert(self, root: Root) -> None:
        """The table says so."""
        assert root.support(0)["mlp.shared_expert_output"] == "this mixture has no shared expert"

    def test_expert_by_expert_their_outputs_are_not_written_out(self) -> None:
        """And the reason has the way out."""
        root = models.wrap(self.built())
        root.layers[0].mlp.experts._module.config._experts_implementation = "eager"

        with pytest.raises(Unavailable, match="experts_implementation='batched_mm'"):
            root.layers[0].mlp.expert_outputs  # the access is the test


def _expert(experts: Any, index: int, hidden: Tensor) -> Tensor:
    gate, up = functional.linear(hidden, experts.gate_up_proj[index]).chunk(2, -1)
    return functional.linear(experts.act_fn(gate) * up, experts.down_proj[index])

"""A mixture of experts in the place of an MLP, from `model.layers[0].mlp.router_logits`.

A router scores every expert for every token, the best few run, and their outputs are added up by weight:

    _, top_k_weights, top_k_index = self.router(hidden_states)
    hidden_states = self.experts(hidden_states, top_k_index, top_k_weights)

What each expert adds is written out by the experts' batched kernels alone, which are what transformers picks by default.
Source: MixtralSparseMoeBlock.forward and integrations.moe, transformers 5.24.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from interp_components.layouts import ExpertIndices, ExpertOutputs, ExpertWeights, Residual, RouterLogits
from interp_components.properties import unavailable
from interp_components.standard import sizes
from interp_components.standard.mlp import Mlp
from interp_components.standard.tokens import TokenEProperty

if TYPE_CHECKING:
    from interp_components.standard.parts import TensorEnvoy
    from interp_components.tracing import Traceable

KERNELS = ("grouped_mm", "batched_mm")


def needs_expert_kernel(mixture: Moe) -> str | None:
    """The outputs of single experts are written out by the kernels that run all of them at once."""
    name = mixture.config._experts_implementation
    if name in KERNELS:
        return None
    return (
        f"added up expert by expert under the {name!r} experts, so no tensor holds them; "
        "load with experts_implementation='batched_mm'"
    )


def no_shared_expert(mixture: Moe) -> str | None:
    """Some mixtures have an expert that every token goes through."""
    try:
        mixture.get("shared_experts")
    except AttributeError:
        return "this mixture has no shared expert"
    return None


class Moe(Mlp):
    """A mixture of experts: a router, experts, and in some families an expert that all tokens share."""

    router: Traceable
    experts: TensorEnvoy
    shared_experts: TensorEnvoy

    mlp_activations = unavailable("the neurons of a mixture are those of its experts, and differ from token to token")

    @TokenEProperty("router.source.F_linear_0.output")
    def router_logits(self, value: Tensor) -> RouterLogits:
        """Scores of all experts, ahead of the choice."""
        return value

    @TokenEProperty("experts.inputs", select=1)
    def expert_indices(self, value: Tensor) -> ExpertIndices:
        """The experts that each token goes to."""
        return value

    @TokenEProperty("experts.inputs", select=2)
    def expert_weights(self, value: Tensor) -> ExpertWeights:
        """How much each chosen expert counts."""
        return value

    @TokenEProperty(
        "experts.source.experts_forward_1.source.weighted_out_view_0.output", unavailable=needs_expert_kernel
    )
    def expert_outputs(self, value: Tensor) -> ExpertOutputs:
        """What each chosen expert adds, its weight included."""
        return value

    @TokenEProperty("experts.output")
    def routed_output(self, value: Tensor) -> Residual:
        """What the chosen experts add together."""
        return value

    @TokenEProperty("shared_experts.output", unavailable=no_shared_expert)
    def shared_expert_output(self, value: Tensor) -> Residual:
        """What the expert that all tokens share returns."""
        return value

    @property
    def num_experts(self) -> int:
        """Number of experts to choose from."""
        return sizes.require(self, "num_experts", sizes.module_int(self.experts._module, "num_experts"))

    @property
    def top_k(self) -> int:
        """Number of experts that each token goes to."""
        found = sizes.module_int(self._module, "top_k") or sizes.module_int(self.router._module, "top_k")
        return sizes.require(self, "top_k", found)

    @property
    def intermediate_size(self) -> int:
        """Number of neurons of one expert."""
        names = ("intermediate_dim", "expert_dim", "intermediate_size", "ffn_hidden_size")
        return sizes.require(self, "intermediate_size", sizes.module_int(self.experts._module, *names))

"""What attention and MLP of each block add to the stream, and what that is made from, for `direct_logit_attribution`.

A branch ends in a projection, of heads or of neurons, and what it returns may be scaled, or pass a norm, before it is
added. Which of these a family does is found from the numbers of the run, and checked with them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from interp_components.analysis.linear import at_scale_of, is_close, pulled_back
from interp_components.errors import Unavailable
from interp_components.model import StandardizedTransformer
from interp_components.standard import LooseMlp


class Branch(NamedTuple):
    """One branch of a block in a run, at one position.

    Attributes:
        path: Where it is, for errors.
        added: What it added to the stream [batch, hidden].
        projected: What its projection returned [batch, hidden]; `added` where units were not asked for.
        units: What the projection was given [batch, unit, width]; None where units were not asked for.
        projection: The projection.
        norm: The norm behind it, None where there is none.
    """

    path: str
    added: Tensor
    projected: Tensor
    units: Tensor | None
    # Any: modules under standard names.
    projection: Any
    norm: Any

    def by_unit(self, direction: Tensor) -> Tensor:
        """Return what each unit contributes along a direction of the stream [unit, batch].

        Raises:
            Unavailable: What is added is more than units, projected, scaled and normed.
        """
        assert self.units is not None
        flat = self.units.flatten(1)
        if not is_close(self.projection(flat).float(), self.projected.float(), flat.dtype):
            raise Unavailable(f"what {self.path} adds is not a projection of its units alone, so it cannot be split")
        wanted = self._ahead_of_norm(direction).to(flat.dtype)
        read = pulled_back(self.projection, flat.shape[-1], wanted)
        return (flat.float() * read.float()).view_as(self.units).sum(-1).T

    def _ahead_of_norm(self, direction: Tensor) -> Tensor:
        """The direction that reads behind the projection what `direction` reads in the stream."""
        added, projected = self.added.float(), self.projected.float()
        scale = (added * projected).sum() / projected.square().sum()
        if is_close(scale * projected, added, self.added.dtype):
            return scale * direction
        if self.norm is None:
            raise Unavailable(f"what {self.path} adds is not what its projection returns, so it cannot be split")
        return at_scale_of(self.norm, self.norm.path, self.projected, self.added).back(direction)


class Recorded(NamedTuple):
    """What a run leaves at one position, tensors [batch, hidden].

    Attributes:
        entered: The stream that enters the first block.
        attention: The attention of each block.
        mlp: The MLP of each block.
        left: The stream that leaves the last block.
        normed: What the last norm makes of it.
    """

    entered: Tensor
    attention: list[Branch]
    mlp: list[Branch]
    left: Tensor
    normed: Tensor


def record(
    model: StandardizedTransformer, arguments: dict[str, Tensor], position: int, heads: bool, neurons: bool
) -> Recorded:
    """Return what a run leaves at one position.

    A forward may add to a tensor after it was read (Falcon does), so everything is a copy.
    """
    attention: list[Branch] = []
    mlp: list[Branch] = []
    with model.trace(arguments) as tracer:
        entered = model.layers[0].layer_input[:, position].clone().save()
        for layer in model.layers:
            attention.append(_attention(layer, position, heads))
            mlp.append(_mlp(layer, position, neurons))
        left = model.layers[-1].layer_output[:, position].clone().save()
        normed = model.final_norm_output[:, position].clone().save()
        tracer.stop()
    return Recorded(entered, attention, mlp, left, normed)


def check_sum(run: Recorded) -> None:
    """Raise `Unavailable` where the stream is more than the sum of what was added to it."""
    parts = [run.entered, *(branch.added for branch in [*run.attention, *run.mlp])]
    if not is_close(torch.stack(parts).float().sum(0), run.left.float(), run.left.dtype):
        raise Unavailable(
            "the stream that leaves the last block is not the sum of what attention and MLP of each block added to it: "
            "the blocks of this model do more than that, so a logit is no sum of contributions; attribute with "
            "gradients instead, see `attribution_patch`"
        )


# Any: blocks have the modules of their architecture.
def _attention(layer: Any, position: int, split: bool) -> Branch:
    attention = layer.self_attn
    if not split:
        added = attention.attention_output[:, position].clone()
        return Branch(attention.path, added, added, None, None, None)
    units = attention.attention_head_outputs[:, position].clone()
    projected = attention.o_proj.output[:, position].clone()
    added = attention.attention_output[:, position].clone()
    norm = getattr(layer, "post_attention_layernorm", None)
    return Branch(attention.path, added, projected, units, attention.o_proj, norm)


def _mlp(layer: Any, position: int, split: bool) -> Branch:
    mlp = layer.mlp
    if not split:
        added = mlp.mlp_output[:, position].clone()
        return Branch(mlp.path, added, added, None, None, None)
    units = mlp.mlp_activations[:, position, :, None].clone()
    if isinstance(mlp, LooseMlp):  # the last projection itself
        added = mlp.mlp_output[:, position].clone()
        return Branch(mlp.path, added, added, units, mlp, None)
    projected = mlp.down_proj.output[:, position].clone()
    added = mlp.mlp_output[:, position].clone()
    norm = getattr(layer, "post_feedforward_layernorm", None)
    return Branch(mlp.path, added, projected, units, mlp.down_proj, norm)

"""`patch(model, clean, corrupted, metric, over="heads")`: which place carries what the clean prompt says?

A value of the clean run is put into the run of the corrupted prompt, place by place, and the metric tells how far that
brings the answer back. For the other direction, what breaks the clean run, change the two prompts over.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from interp_components.analysis.inputs import Inputs, read_pair
from interp_components.analysis.metrics import Metric, score
from interp_components.analysis.sites import layers_of, record, site
from interp_components.analysis.sweeps import Options, Sweep, logits_of, sweep
from interp_components.model import StandardizedTransformer


@torch.no_grad()
def patch(
    model: StandardizedTransformer,
    clean: Inputs,
    corrupted: Inputs,
    metric: Metric,
    *,
    over: str = "residual",
    layers: int | Iterable[int] | None = None,
    by_position: bool | None = None,
    batch_size: int = 32,
    progress: bool = False,
) -> Sweep:
    """Put each value of the clean run into the corrupted run, in turn, and measure each time.

    Args:
        model: The model.
        clean: Where the values come from, any input of `model.trace`.
        corrupted: Where they are put; as many prompts, and prompt by prompt as many tokens.
        metric: Logits [batch, seq, vocab] to a number, or one for each prompt, see `logit_difference`.
        over: Which value: "residual", "residual_in", "residual_mid", "attention", "mlp" (layer by position), "heads",
            "queries", "keys", "values", "patterns" (layer by head), "neurons" (layer by neuron).
        layers: Which blocks; all of them by default.
        by_position: Whether positions are patched one by one. By default they are where the value has no heads and
            neurons.
        batch_size: Rows of a forward, at most. The prompts are in it once for each patch.
        progress: Whether to show a bar.

    Returns:
        The metric after each patch; `.recovered` is 0 where a patch does nothing and 1 where it brings the clean
        answer back.

    Raises:
        AlignmentError: The prompts do not have the same places.
        Unavailable: The model, as it is loaded, does not have the value.
        ValueError: There is no such `over` or layer.
    """
    first, second = read_pair(model, clean, corrupted)
    at = site(model, over)
    sources = record(model, first.arguments, at, layers_of(model, layers))
    target = score(metric, logits_of(model, first.arguments)).item()
    how = Options(by_position, batch_size, progress)
    return sweep(model, second, at, sources, metric, how, target)

"""Known answers of SmolLM2-135M, where a package carries it.

Its answers were measured with plain torch: a sentence of two names is answered by the name that is not repeated, the
repeated name carries the answer until block 18 or so and the end of the sentence from block 24 on, and L18H6 is its
strongest induction head.
"""

from __future__ import annotations

import pytest
import torch

from interp_components.analysis import (
    attribution_patch,
    direct_logit_attribution,
    induction_scores,
    logit_difference,
    logit_lens,
    patch,
    previous_token_scores,
)
from interp_components.demo import subjects
from interp_components.model import StandardizedTransformer

FILE = subjects.smollm2()
pytestmark = pytest.mark.skipif(FILE is None, reason=f"needs a real model: {subjects.HOW_TO_INSTALL}")

CLEAN = "When Mary and John went to the store, John gave a drink to"
CORRUPTED = "When Mary and John went to the store, Mary gave a drink to"


@pytest.fixture(scope="module")
def model() -> StandardizedTransformer:
    """The model, under its usual kernel."""
    assert FILE is not None
    return StandardizedTransformer(FILE)


def test_the_answer_moves_from_the_repeated_name_to_the_end(model: StandardizedTransformer) -> None:
    """Residual patching at some blocks: all at the name first, all at the end last."""
    found = patch(
        model, CLEAN, CORRUPTED, logit_difference(model, " Mary", " John"), layers=[3, 15, 24, 27], batch_size=64
    )
    name = int(found.effects[0].argmax())

    assert (found.target, found.baseline) == (pytest.approx(6.12, abs=0.1), pytest.approx(-5.51, abs=0.1))
    assert found.recovered[:, name].tolist() == pytest.approx([1, 1.01, -0.04, -0.01], abs=0.05)
    assert found.recovered[:, -1].tolist() == pytest.approx([0, 0, 0.91, 0.98], abs=0.05)


def test_heads_are_what_they_are_known_for(model: StandardizedTransformer) -> None:
    """The strongest head of each kind."""
    ids = torch.randint(0, model.vocab_size, (4, 80), generator=torch.Generator().manual_seed(0))

    assert induction_scores(model).strongest(1)[0] == ("L18H6", pytest.approx(0.894, abs=0.06))
    assert previous_token_scores(model, ids).strongest(1)[0] == ("L16H0", pytest.approx(0.905, abs=0.08))


def test_paris_comes_up_in_the_last_blocks(model: StandardizedTransformer) -> None:
    """Its rank by block: far away until block 20, first at the end."""
    ranks = logit_lens(model, "The Eiffel Tower is located in the city of", positions=[-1]).ranks(" Paris")

    assert ranks[:20].min().item() > 500
    assert ranks[-3:].tolist() == [0, 0, 0]


def test_parts_add_up_to_the_answer(model: StandardizedTransformer) -> None:
    """Through 30 blocks, heads and neurons."""
    found = direct_logit_attribution(model, CLEAN, " Mary", " John", neurons=True)
    parts = found.embedding + found.attention.sum(0) + found.mlp.sum(0) + found.constant

    assert found.total.item() == pytest.approx(6.12, abs=0.1)
    assert parts.item() == pytest.approx(found.total.item(), abs=1e-3)


def test_the_strongest_patched_head_is_estimated_among_the_first(model: StandardizedTransformer) -> None:
    """One backward pass beside a sweep over the heads of five blocks."""
    metric = logit_difference(model, " Mary", " John")
    found = patch(model, CLEAN, CORRUPTED, metric, over="heads", layers=range(18, 23), batch_size=45)
    estimated = attribution_patch(model, CLEAN, CORRUPTED, metric, over="heads", layers=range(18, 23))

    assert found.strongest(1)[0][0] in [name for name, _ in estimated.strongest(3)]

"""What heads are for."""

from __future__ import annotations

import pytest
import torch

from interp_components.analysis import induction_scores, previous_token_scores
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects


def test_the_toy_has_the_heads_of_its_card(toy: StandardizedTransformer) -> None:
    """All heads of its second block find what followed, and no other head does."""
    found = induction_scores(toy)

    assert found.values[1].tolist() == pytest.approx([0.87, 0.89, 0.91, 0.89], abs=0.04)
    assert found.values[[0, 2, 3]].max().item() < 0.2
    assert repr(found).startswith("HeadScores[layer=4 head=4] strongest L1H")


def test_the_toy_looks_at_the_token_before_with_two_heads(toy: StandardizedTransformer) -> None:
    """On random tokens: those of its card, L0H2 and L0H3."""
    ids = torch.randint(0, toy.vocab_size, (4, 60), generator=torch.Generator().manual_seed(0))
    found = previous_token_scores(toy, ids)

    assert {name for name, _ in found.strongest(2)} == {"L0H2", "L0H3"}
    assert found.strongest(2)[1][1] > 1.5 * found.strongest(3)[2][1]


def test_a_previous_token_score_is_a_mean_of_attentions(llama: StandardizedTransformer) -> None:
    """Recomputed from the patterns that transformers returns; padding does not count."""
    call = models.inputs()
    eager = subjects.model("llama")
    with torch.no_grad():
        patterns = eager._module(**call, output_attentions=True).attentions
    paid = torch.stack(patterns).diagonal(-1, dim1=3, dim2=4)
    counted = call["attention_mask"].cumsum(-1)[:, 1:] > 1
    expected = (
        torch.stack([paid[:, row, :, counted[row]].sum(-1) for row in range(models.BATCH)]).sum(0) / counted.sum()
    )

    torch.testing.assert_close(previous_token_scores(llama, call).values, expected)


def test_the_kernel_is_afterwards_the_one_before(llama: StandardizedTransformer) -> None:
    """Patterns are asked of the eager one."""
    induction_scores(llama, length=4)

    assert llama.attn_implementation == "sdpa"


def test_scores_of_some_layers_are_those_of_all(toy: StandardizedTransformer) -> None:
    """The others are left out, and a head keeps its name."""
    found = induction_scores(toy, layers=[1, 3])

    assert found.values.tolist() == induction_scores(toy).values[[1, 3]].tolist()
    assert found.strongest(1)[0][0].startswith("L1H")

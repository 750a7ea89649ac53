"""What a forward adds up."""

from __future__ import annotations

from typing import Any

import pytest
from torch import Tensor, nn

from interp_components.model.flow import STREAM, UNKNOWN, flow_of


class Block(nn.Module):
    is_parallel = True

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attn, self.mlp, self.dropout = nn.Identity(), nn.Identity(), nn.Identity(), nn.Dropout()


class InOrder(Block):
    def forward(self, hidden: Tensor) -> Any:
        residual = hidden
        found, _ = self.attn(self.norm(hidden))
        residual = residual + self.dropout(found)
        hidden = self.mlp(residual)
        return residual + hidden, None


class ByOption(Block):
    def forward(self, hidden: Tensor) -> Any:
        outputs = self.attn(hidden)
        if not self.is_parallel:
            hidden = hidden * 2
        return hidden + outputs[0] + self.mlp(hidden)


class Scaled(Block):
    def forward(self, hidden: Tensor) -> Any:
        return hidden + self.attn(hidden) * 0.5 + self.mlp(hidden)


class InPlace(Block):
    def forward(self, hidden: Tensor) -> Any:
        found = self.attn(hidden)
        other = found
        found += hidden
        return hidden + other


class ByArgument(Block):
    def forward(self, hidden: Tensor, scale: float | None = None) -> Any:
        found = self.attn(hidden)
        if scale is not None:
            found = found * scale
        return hidden + found + self.mlp(hidden)


class ReturnsEarly(Block):
    def forward(self, hidden: Tensor, scale: float | None = None) -> Any:
        if scale is not None:
            return hidden
        return hidden + self.attn(hidden)


class Repeated(Block):
    def forward(self, hidden: Tensor) -> Any:
        for _ in range(2):
            hidden = hidden + self.attn(hidden)
        return hidden


@pytest.mark.parametrize(
    ("block", "output"),
    [
        (InOrder, (*STREAM, "attn", "mlp")),
        (ByOption, (*STREAM, "attn", "mlp")),
        (Scaled, (*STREAM, *UNKNOWN, "mlp")),
        (InPlace, (*STREAM, *UNKNOWN)),
        (ByArgument, (*STREAM, *UNKNOWN, "mlp")),
        (ReturnsEarly, UNKNOWN),
        (Repeated, UNKNOWN),
        (nn.Identity, STREAM),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_the_terms_of_the_output_are_those_that_the_text_shows(block: type[nn.Module], output: tuple[str, ...]) -> None:
    """What is scaled, changed in place, repeated or chosen by an argument is unknown."""
    assert sorted(flow_of(block()).output) == sorted(output)


def test_a_child_is_known_by_what_it_is_given() -> None:
    """The MLP of a block that runs in order is given the stream that attention was added to."""
    assert sorted(flow_of(InOrder()).given["mlp"]) == sorted((*STREAM, "attn"))


@pytest.mark.parametrize(("block", "is_tuple"), [(InOrder, True), (Scaled, False)])
def test_a_returned_tuple_is_seen(block: type[nn.Module], is_tuple: bool) -> None:
    """So that a skipped block can return one."""
    assert flow_of(block()).returns_tuple is is_tuple


def test_of_a_forward_without_text_nothing_is_known() -> None:
    """Text is what is read."""
    block = Block()
    block.forward = eval("lambda hidden: hidden")

    assert flow_of(block).output == UNKNOWN

"""Views and copies: edits go back into the model, also when nobody assigns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from interp_components.interleaving import Receipt, current
from interp_components.properties import CopyEProperty, EProperty

from .toy import ToyNode, run, tree

PLAIN = 7.0


class Copying(ToyNode):
    """Serves copies, upside down, of a bare output and of an element of the inputs."""

    calls = 0

    @EProperty("output")
    def upside_down(self, value: Tensor) -> Tensor:
        return -value

    @upside_down.transform
    def _back(self, view: Tensor, raw: Tensor) -> Tensor:
        self.calls += 1
        return -view

    @EProperty("inputs", select=0)
    def given(self, value: Tensor) -> Tensor:
        return value.clone()

    @given.transform
    def _given_back(self, view: Tensor, raw: Tensor) -> Tensor:
        return view


@pytest.fixture
def root() -> ToyNode:
    return tree(block=Copying, last=Copying)


def edit(root: ToyNode, block: Callable[[Any], object]) -> float:
    """The model's output, all of whose numbers are equal, when a block edits `first`."""
    out = run(root, lambda: block(root.get("first")))
    assert (out == out[0, 0]).all()
    return float(out[0, 0])


def test_an_edited_copy_reaches_the_model(root: ToyNode) -> None:
    """An in-place edit on what was read is carried back as the block ends."""
    assert edit(root, lambda first: first.upside_down.fill_(-5.0)) == 11.0


def test_an_edited_element_is_put_back_among_the_others(root: ToyNode) -> None:
    """With a select, only the element is replaced."""
    assert edit(root, lambda first: first.given.fill_(2.0)) == 11.0


def test_an_unedited_copy_changes_nothing(root: ToyNode) -> None:
    """The transform is called once and is the identity."""
    assert (edit(root, lambda first: first.upside_down), root.get("first").calls) == (PLAIN, 1)


def test_an_edit_is_carried_back_before_the_next_request(root: ToyNode) -> None:
    """What the block reads next already follows from the edit."""
    seen: list[Tensor] = []

    def block(first: Any) -> None:
        first.upside_down.fill_(-5.0)
        seen.append(run_second(root))

    def run_second(root: Any) -> Tensor:
        return EProperty("/second.inner.output", select=0).__get__(root)

    edit(root, block)

    assert torch.all(seen[0] == 10.0)


@pytest.mark.parametrize(
    ("block", "kinds"),
    [
        pytest.param(lambda first: first.upside_down, ["read"], id="left alone"),
        pytest.param(lambda first: first.upside_down.fill_(-5.0), ["edit"], id="edited"),
        pytest.param(lambda first: first.given.fill_(2.0), ["edit"], id="edited element"),
        pytest.param(
            lambda first: setattr(first, "given", torch.full_like(first.given, 2.0)),
            ["read", "write"],
            id="assigned element",
        ),
    ],
)
def test_the_receipt_tells_of_edits_and_not_of_carrying_back(
    root: ToyNode, block: Callable[[Any], object], kinds: list[str]
) -> None:
    """One entry for a copy, on the line where it was read."""
    runs: list[Any] = []

    def noted(first: Any) -> None:
        block(first)
        runs.append(current("the receipt").run)

    edit(root, noted)

    entries = Receipt(runs[0].requests)
    assert [entry.kind.value for entry in entries] == kinds
    assert {(Path(entry.filename).name, entry.seen) for entry in entries} == {("test_writeback.py", True)}


def test_a_second_read_is_answered_with_the_held_view(root: ToyNode) -> None:
    """Two edits in a row meet the same tensor."""
    seen: list[bool] = []

    def block(first: Any) -> None:
        view = first.upside_down
        view.mul_(2)
        again = first.upside_down
        again.sub_(4)
        seen.append(view is again)

    assert (edit(root, block), seen) == (21.0, [True])


def test_an_assignment_after_a_read_wins(root: ToyNode) -> None:
    """The held view goes back first, then comes what was assigned."""

    def block(first: Any) -> None:
        first.upside_down.fill_(-100.0)
        first.upside_down = torch.full((1, 2), 5.0)

    assert edit(root, block) == 11.0


def test_a_view_is_held_per_place(root: ToyNode) -> None:
    """The same descriptor on another module is another value."""

    def block(first: Any) -> None:
        inside = first.get("last").upside_down
        inside.fill_(-4.0)
        first.upside_down.add_(-1.0)

    assert edit(root, block) == 11.0


def test_each_block_holds_its_own_view(root: ToyNode) -> None:
    """A second block sees what the first one carried back, in a view of its own."""
    first: Any = root.get("first")
    seen: list[Tensor] = []
    run(root, lambda: first.upside_down.fill_(-5.0), lambda: seen.append(first.upside_down.clone()))

    assert torch.all(seen[0] == -5.0)


class Shared(ToyNode):
    """Serves the input of the second call of one tensor."""

    @CopyEProperty("inputs", select="mask")
    def mask(self, value: Tensor) -> Tensor:
        return value


def test_a_copied_value_is_not_the_models_own() -> None:
    """What was read stays what it was, and what was edited reaches the one place."""
    root = tree(inner=Shared)
    inner: Any = root.get("first").get("inner")
    seen: list[Tensor] = []

    def block() -> None:
        inner.mask.fill_(3.0)
        seen.append(inner.mask)

    assert torch.all(run(root, block) == 11.0)
    assert torch.all(seen[0] == 3.0)

"""What a family keeps of its values as they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from interp_components.standard import Root
from tests import models

from .subject import RECOMPUTED, FamilySubject, at
from .truth import Recording


class Writes(FamilySubject):
    """The model goes on with what was written, and with nothing else."""

    def test_writing_what_was_read_changes_nothing(self, root: Root, recording: Recording, present: str) -> None:
        """An assigned copy of the value leaves every bit as it was."""
        host, name = at(root, 0, present)

        assert torch.equal(models.run(root, lambda: _edit(host, name, Tensor.clone)), recording.logits)

    def test_a_write_moves_the_logits(self, root: Root, recording: Recording, present: str) -> None:
        """The model goes on with what was assigned."""
        host, name = at(root, 0, present)
        logits = models.run(root, lambda: _edit(host, name, _perturbed))

        assert not torch.allclose(logits, recording.logits, **RECOMPUTED)

    def test_a_written_value_is_read_again(self, root: Root, present: str) -> None:
        """What the block reads after its own write is what it wrote."""
        host, name = at(root, 0, present)
        seen: list[Tensor] = []

        def block() -> None:
            wanted = _perturbed(getattr(host, name))
            setattr(host, name, wanted)
            seen.extend([wanted.clone(), getattr(host, name).clone()])

        models.run(root, block)

        torch.testing.assert_close(seen[1], seen[0], **RECOMPUTED)

    def test_an_edit_in_place_is_an_assignment(self, root: Root, present: str) -> None:
        """`value += x` and `host.value = value + x` are one edit."""
        if present in self.spreads:
            pytest.skip("the model uses this tensor elsewhere as well")
        host, name = at(root, 0, present)
        assigned = models.run(root, lambda: _edit(host, name, _perturbed))
        in_place = models.run(root, lambda: _edit_in_place(host, name, _perturbed))

        torch.testing.assert_close(in_place, assigned, **RECOMPUTED)

    @pytest.mark.parametrize("in_place", [True, False], ids=["in_place", "assigned"])
    def test_an_edit_in_one_invoke_leaves_the_others(
        self, root: Root, recording: Recording, present: str, in_place: bool
    ) -> None:
        """Rows of a batch that belong to another block keep every bit."""
        host, name = at(root, 0, present)
        edit = _edit_in_place if in_place else _edit
        logits = models.run_rows(root, 1, lambda: edit(host, name, _perturbed))

        assert torch.equal(logits[1:], recording.logits[1:])
        assert not torch.allclose(logits[0], recording.logits[0], **RECOMPUTED)

    def test_a_saved_value_does_not_change_later(self, root: Root, present: str) -> None:
        """What was read is, after the run, what it was when it was read."""
        host, name = at(root, 0, present)
        seen: list[Tensor] = []

        def block() -> None:
            value = getattr(host, name)
            seen.extend([value, value.clone()])

        models.run(root, block)

        assert torch.equal(seen[0], seen[1])

    def test_a_skipped_block_passes_its_input_on(self, root: Root, recording: Recording) -> None:
        """The next block is given what the skipped one was given."""
        seen: list[Tensor] = []

        def block() -> None:
            root.skip_layer(0)
            seen.append(root.layers[1].layer_input.clone())

        models.run(root, block)

        assert torch.equal(seen[0], self.truth(recording, 0)["layer_input"])


Edit = Callable[[Tensor], Tensor]


def _edit(host: Any, name: str, edit: Edit) -> None:
    setattr(host, name, edit(getattr(host, name)))


def _edit_in_place(host: Any, name: str, edit: Edit) -> None:
    value = getattr(host, name)
    value.copy_(edit(value))


def _perturbed(value: Tensor) -> Tensor:
    """Another value of the same kind, still finite where the mask's floor is added."""
    noise = torch.randn(value.shape, generator=torch.Generator().manual_seed(2))
    return value * 0.5 + noise

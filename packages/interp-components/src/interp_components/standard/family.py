"""What one architecture says about itself, as the rooms above and below see it.

A family is a module (`interp_components.families.gpt2`) or any object with these attributes. Beside them it may define

* functions named after a size, `def intermediate_size(model) -> int`, where the config calls it otherwise;
* `def project_on_vocab(model, hidden) -> Tensor`, where logits are more than `lm_head(norm(hidden))`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from torch import nn

from interp_components.envoys import Envoy

RenameKey = str | type[nn.Module]
Rename = Mapping[RenameKey, str | Sequence[str]]
Envoys = Mapping[str | type[nn.Module], type[Envoy]]


class Family(Protocol):
    """The description of one architecture."""

    @property
    def __name__(self) -> str:
        """What the family is called; the last part of it is the `model_type` that it describes."""

    @property
    def RENAME(self) -> Rename:
        """Native module names to standard ones."""

    @property
    def ENVOYS(self) -> Envoys:
        """Module classes, or paths, to the components that describe them."""

"""The names of the many decoders that are laid out like llama, for `RENAME` in their families.

Block for block these models are called what this package calls them; only the root is one level up. A model for images
and text keeps the same decoder one level further down, so each key comes in both spellings; one that leads nowhere is
skipped.
"""

from __future__ import annotations

from typing import Final

RENAME: Final[dict[str, str]] = {
    "model.embed_tokens": "embed_tokens",
    "model.layers": "layers",
    "model.norm": "norm",
    "model.language_model.embed_tokens": "embed_tokens",
    "model.language_model.layers": "layers",
    "model.language_model.norm": "norm",
}

"""What a model's blocks have and lack, from `model.support()`.

Values of a block and of its parts are named by the path from the block (`self_attn.attention_scores`); of all blocks
together, by `layers.` in front. A part that no block has contributes no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from interp_components.display import Reason
from interp_components.standard.base import Standard

PARTS: Final = ("self_attn", "linear_attn", "mlp")


def of_block(block: Standard) -> dict[str, Reason]:
    """Return the reasons of one block and its parts, flat."""
    found: dict[str, Reason] = dict(block.support())
    for name, part in parts(block):
        found.update({f"{name}.{value}": reason for value, reason in part.support().items()})
    return found


def of_blocks(blocks: Sequence[Any]) -> dict[str, Reason]:
    """Return the reasons over all blocks: None when a value is on every block, else block to reason."""
    # Any: blocks that no component describes carry no values.
    each = [of_block(block) if isinstance(block, Standard) else {} for block in blocks]
    names = list(dict.fromkeys(name for found in each for name in found))
    return {f"layers.{name}": _over_blocks(name, each) for name in names}


def _over_blocks(name: str, each: Sequence[dict[str, Reason]]) -> Reason:
    missing: dict[int, str] = {}
    for layer, found in enumerate(each):
        reason = found.get(name, _absent(name))
        if isinstance(reason, str):
            missing[layer] = reason
    return missing or None


def _absent(name: str) -> str:
    part, _, value = name.rpartition(".")
    return f"no {part} module on this block" if part else f"no {value} value on this block"


def parts(block: Standard) -> Iterator[tuple[str, Standard]]:
    """The parts of a block that carry values, by name."""
    for name in PARTS:
        part = getattr(block, name, None)
        if isinstance(part, Standard):
            yield name, part

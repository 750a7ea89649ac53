"""Which operation is meant by a label that has moved: `attention_interface_1`, where the call is the third of its name now.

A label is what the text of a forward says, counted. A release of transformers that binds the name once more, or writes
`F.softmax` for `nn.functional.softmax`, moves labels and leaves what the operations do. So a key that says more than the
label is served all the same: the only call of that name is meant where a key asks for a call, and the only call of a
function that does one thing wherever it is taken from (`softmax`) where there is none of that name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interp_components.sources.listing import Kind, Listed

# Functions that are one operation of mathematics, under whatever name they are reached.
_FUNCTIONS: Final = frozenset({"bmm", "dropout", "linear", "matmul", "softmax"})


def candidates(operations: Sequence[Listed], label: str, is_call: bool) -> list[Listed]:
    """Return the operations that may be meant by `label`, which is none of these or, where a call is asked for, no call."""
    name = _name(label)
    same = [one for one in operations if _name(one.name) == name and (one.kind is Kind.CALL or not is_call)]
    function = name.rpartition("_")[2]
    if same or function not in _FUNCTIONS or any(one.name == label for one in operations):
        return same
    return [one for one in operations if one.kind is Kind.CALL and _name(one.name).rpartition("_")[2] == function]


def _name(label: str) -> str:
    return label.rpartition("_")[0]

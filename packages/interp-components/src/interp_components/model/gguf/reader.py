"""The parts of a GGUF file: its metadata as Python values, and where each tensor lies.

Layout, all little-endian: magic, version, number of tensors, number of metadata entries; the entries; one description
per tensor; then, from the next multiple of the alignment, the tensors.

Source: the GGUF specification in the ggml repository, versions 2 and 3.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from interp_components.errors import InterpError

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)
_STRING, _ARRAY = 8, 9
_SCALARS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class GGUFFormatError(InterpError, ValueError):
    """The file is not a GGUF file that can be read, or holds what its metadata does not describe."""


class StoredTensor(NamedTuple):
    """Where one tensor lies: `kind` is its block format by number, `shape` its axes, slowest first."""

    kind: int
    shape: tuple[int, ...]
    start: int


class GGUFFile:
    """One GGUF file: `metadata` by key, `tensors` by name, and `stored` as the bytes behind them.

    Raises:
        GGUFFormatError: The file does not begin like a GGUF file of version 2 or 3, or ends too soon.
    """

    def __init__(self, path: Path) -> None:
        """Read everything but the tensors."""
        self.path = path
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise GGUFFormatError(f"{str(path)!r} is not a GGUF file: it does not begin with {MAGIC!r}")
            self.stored = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        cursor = _Cursor(self.stored, len(MAGIC))
        try:
            self.metadata, self.tensors = self._contents(cursor)
        except (struct.error, UnicodeDecodeError) as error:
            raise GGUFFormatError(f"{str(path)!r} is cut off or damaged at byte {cursor.position}: {error}") from error

    def _contents(self, cursor: _Cursor) -> tuple[dict[str, Any], dict[str, StoredTensor]]:
        version = cursor.scalar("I")
        if version not in VERSIONS:
            raise GGUFFormatError(f"{str(self.path)!r} is of GGUF version {version}; versions {VERSIONS} can be read")
        num_tensors, num_entries = cursor.scalar("Q"), cursor.scalar("Q")
        # Any: an entry is whatever the writer put there; the readers of a key know its type.
        metadata: dict[str, Any] = {}
        for _ in range(num_entries):
            key = cursor.string()
            metadata[key] = cursor.value(cursor.scalar("I"))
        described = [cursor.tensor() for _ in range(num_tensors)]
        alignment = metadata.get("general.alignment", 32)
        first = math.ceil(cursor.position / alignment) * alignment
        return metadata, {name: tensor._replace(start=first + tensor.start) for name, tensor in described}

    @property
    def architecture(self) -> str:
        """What the file calls its architecture: `llama`, `qwen2`."""
        return str(self.metadata.get("general.architecture", "unknown"))

    def of_architecture(self, key: str, default: object = None) -> Any:
        """The entry `key` of this architecture, as `block_count` for `llama.block_count`."""
        return self.metadata.get(f"{self.architecture}.{key}", default)


class _Cursor:
    """A position in the file, moved by what is read."""

    def __init__(self, stored: mmap.mmap, position: int) -> None:
        self.stored = stored
        self.position = position

    def scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self.stored, self.position)
        self.position += struct.calcsize(code)
        return value

    def string(self) -> str:
        length = self.scalar("Q")
        if self.position + length > len(self.stored):
            raise struct.error(f"a string of {length} bytes goes beyond the end")
        start, self.position = self.position, self.position + length
        return self.stored[start : self.position].decode()

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self.array()
        if kind not in _SCALARS:
            raise struct.error(f"an entry has the unknown type {kind}")
        return self.scalar(_SCALARS[kind])

    def array(self) -> list[Any]:
        kind, count = self.scalar("I"), self.scalar("Q")
        if kind in _SCALARS:
            code = f"<{count}{_SCALARS[kind]}"
            values = struct.unpack_from(code, self.stored, self.position)
            self.position += struct.calcsize(code)
            return list(values)
        read: Callable[[], Any] = self.string if kind == _STRING else lambda: self.value(kind)
        return [read() for _ in range(count)]

    def tensor(self) -> tuple[str, StoredTensor]:
        name = self.string()
        axes = [self.scalar("Q") for _ in range(self.scalar("I"))]
        kind, start = self.scalar("I"), self.scalar("Q")
        return name, StoredTensor(kind, tuple(reversed(axes)), start)

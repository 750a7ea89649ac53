"""The prose that the toy model learns from: six novels by Jane Austen, out of copyright everywhere.

`novels("Rdata.rdb")` reads them from the data file of the R package janeaustenr (MIT; Debian carries it as
`r-cran-janeaustenr`), without R. The file is a row of compressed objects, one character vector per novel.

Source: the R Internals manual, "Serialization Formats" and "Lazy loading".
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

_HEADER = struct.Struct(">2s4i5s2i")
_STRING, _STRINGS = 9, 16


def novels(file: Path) -> list[str]:
    """The novels in `file`, each as one string whose paragraphs are single lines."""
    return [_paragraphs(_lines(stored)) for stored in _objects(file.read_bytes())]


def _objects(stored: bytes) -> Iterator[bytes]:
    """Each object of a lazy-load database: its unpacked size (four bytes), then a zlib stream."""
    while stored:
        stream = zlib.decompressobj()
        yield stream.decompress(stored[4:])
        stored = stream.unused_data


def _lines(stored: bytes) -> list[str]:
    """The strings of one serialized character vector (XDR, version 3)."""
    *_, encoding, flags, count = _HEADER.unpack_from(stored)
    if encoding != b"UTF-8" or flags & 0xFF != _STRINGS:
        raise ValueError(f"expected a UTF-8 character vector, found encoding {encoding!r} and type {flags & 0xFF}")
    lines, position = [], _HEADER.size
    for _ in range(count):
        kind, length = struct.unpack_from(">ii", stored, position)
        if kind & 0xFF != _STRING:
            raise ValueError(f"expected a string at byte {position}, found type {kind & 0xFF}")
        position += 8
        lines.append(stored[position : position + length].decode())
        position += length
    return lines


def _paragraphs(lines: list[str]) -> str:
    """Join the lines of each paragraph, as a model should not learn where the printer broke them."""
    blocks = "\n".join(lines).split("\n\n")
    return "\n".join(" ".join(block.split()) for block in blocks if block.strip())

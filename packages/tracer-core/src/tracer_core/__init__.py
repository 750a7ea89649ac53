"""Turn the body of a `with` block into code that runs later, elsewhere, on your terms."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tracer_core._version import __version__
from tracer_core.backends import Backend, ExecutorBackend, InPlaceBackend
from tracer_core.block import Block
from tracer_core.errors import (
    ExitTracingException,
    SaveOutsideTrace,
    SourceNotAvailable,
    StaleSource,
    TracerError,
    TraceSuspended,
    UnsupportedBody,
    WithBlockNotFoundError,
)
from tracer_core.results import Saved
from tracer_core.saving import mark, save
from tracer_core.tracer import Tracer

if TYPE_CHECKING:
    from tracer_core.failures import (
        BlockCancelled,
        BlockFailed,
        BlockTimeout,
        ExecutorShutDown,
        NotPortable,
        WorkerDied,
    )
    from tracer_core.portable import PortableBlock

__all__ = [
    "Backend",
    "Block",
    "BlockCancelled",
    "BlockFailed",
    "BlockTimeout",
    "ExecutorBackend",
    "ExecutorShutDown",
    "ExitTracingException",
    "InPlaceBackend",
    "NotPortable",
    "PortableBlock",
    "SaveOutsideTrace",
    "Saved",
    "SourceNotAvailable",
    "StaleSource",
    "TraceSuspended",
    "Tracer",
    "TracerError",
    "UnsupportedBody",
    "WithBlockNotFoundError",
    "WorkerDied",
    "__version__",
    "mark",
    "save",
]

# Names that stand on concurrent.futures, whose import takes longer than that of all the rest.
_LATE = {
    "BlockCancelled": "failures",
    "BlockFailed": "failures",
    "BlockTimeout": "failures",
    "ExecutorShutDown": "failures",
    "NotPortable": "failures",
    "PortableBlock": "portable",
    "WorkerDied": "failures",
}


def __getattr__(name: str) -> object:
    """Import a public name of `_LATE` when it is first asked for."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)

"""Turn the body of a `with` block into code that runs later, elsewhere, on your terms."""

from tracer_core._version import __version__
from tracer_core.backends import Backend, InPlaceBackend
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
from tracer_core.saving import Saved, mark, save
from tracer_core.tracer import Tracer

__all__ = [
    "Backend",
    "Block",
    "ExitTracingException",
    "InPlaceBackend",
    "SaveOutsideTrace",
    "Saved",
    "SourceNotAvailable",
    "StaleSource",
    "TraceSuspended",
    "Tracer",
    "TracerError",
    "UnsupportedBody",
    "WithBlockNotFoundError",
    "__version__",
    "mark",
    "save",
]

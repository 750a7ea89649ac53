"""Every error of `interp_components` that a user can meet, with its words.

A message says what was asked, where, what was found there, and the way out. Nothing here is an `AttributeError`: an
envoy falls back to its module when a name is missing, so an `AttributeError` out of a property would come back as "no
such name" and hide what really happened.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


class InterpError(Exception):
    """The root of the family: `except InterpError` catches all of them."""


class OutsideTraceError(InterpError, ValueError):
    """A value of the running model was asked for where no model runs."""

    @classmethod
    def of(cls, what: str) -> OutsideTraceError:
        """The error for `what`, read, assigned or called outside of a trace."""
        return cls(
            f"Cannot access `{what}` outside of interleaving: it exists only while the model runs, in turns with a block. "
            f"Put the line inside `with model.trace(...):`, and keep what you need with `.save()`."
        )


class OutOfOrderError(InterpError, RuntimeError):
    """A block asked for a place that the model had passed already, or never came to."""


class SourceNotAvailable(InterpError, RuntimeError):
    """The operations inside a forward cannot be had: no Python source, no such operation, or asked for too late."""


class Unavailable(InterpError, RuntimeError):
    """This checkpoint, as it is loaded, does not have the value. The message says why and what to change."""


class NoEffectError(InterpError, RuntimeError):
    """An edit was asked for and the model never went on with it (`trace(strict=True)`)."""


class NoEffectWarning(UserWarning):
    """An edit was asked for and the model never went on with it."""


class MovedOperationWarning(UserWarning):
    """The label in a key is another operation's by now, and the one that plays its part is read."""


class RowsError(InterpError, ValueError):
    """A value does not fit the rows of the batch that belong to the block."""


class BatchError(InterpError, ValueError):
    """The inputs of several invokes cannot be put into one batch, or there are none."""


class NestedRunError(InterpError, ValueError):
    """An invoke was opened while its model was already running."""


class AliasError(InterpError, ValueError):
    """A `rename=` entry means two things, or hides a name that is already there."""


class BarrierError(InterpError, ValueError):
    """A barrier waits for more blocks than ever come to it."""


class CacheError(InterpError, ValueError):
    """A cache was declared too late, or asked for what it does not hold."""


class GradientError(OutOfOrderError):
    """A gradient was asked for that there is none of, or that the backward pass had passed already."""


class InternalError(InterpError, AssertionError):
    """Our own doubt, not a mistake of the user: the message asks to report it."""


class StopRun(BaseException):
    """Control flow of `tracer.stop()`: leaves the model's forward. Never reaches a user.

    A `BaseException`, since forwards that guard themselves with `except Exception` are to be left as well.
    """


def add_note(error: BaseException, note: str) -> None:
    """Add a line to what the traceback of `error` prints; Python 3.10 keeps it without printing."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    else:
        error.__notes__ = [*getattr(error, "__notes__", ()), note]  # type: ignore[attr-defined]  # as 3.11 names them


def out_of_order(asked: str, occurrence: int | None, last: str | None, found: str, ahead: Sequence[str]) -> str:
    """The text of an `OutOfOrderError`.

    Args:
        asked: path of the place that was asked for.
        occurrence: which passing of it, from 0; None for the next one.
        last: path of the place the block was last served, None when it was served nothing yet.
        found: one clause on why it cannot be served.
        ahead: places that still lay ahead of the one served last.
    """
    text = f"'{asked}.i{occurrence or 0}' was requested but the model already ran past it: {found}"
    if last is not None:
        text += f". You asked for {asked} after {last} had been read"
    text += ". A block moves with the model: read and edit places in the order in which the model runs them"
    if ahead:
        text += f". Still ahead, in the order of the module tree, were {', '.join(ahead)}"
    return text + "."


__all__ = [
    "AliasError",
    "BarrierError",
    "BatchError",
    "CacheError",
    "GradientError",
    "InternalError",
    "InterpError",
    "MovedOperationWarning",
    "NestedRunError",
    "NoEffectError",
    "NoEffectWarning",
    "OutOfOrderError",
    "OutsideTraceError",
    "RowsError",
    "SourceNotAvailable",
    "StopRun",
    "Unavailable",
    "add_note",
    "out_of_order",
]

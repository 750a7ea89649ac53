"""`with model.session():`: several traces, whose values flow from one to the next; what is saved leaves at the end."""

from __future__ import annotations

from tracer_core import Tracer


class Session(Tracer):
    """A block of traces. Its own statements run in place; a trace in it gives all its names to the block."""

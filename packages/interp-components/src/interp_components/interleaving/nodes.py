"""What a key is walked over: `model.transformer.h[0].attn`, its `source`, an operation in it.

Envoys, sources and operations are nodes. Properties know nodes only, so a key may cross from modules into a forward and
into the function it calls without anybody asking which of them it stands on.
"""

from __future__ import annotations

from typing import Literal, Protocol

from interp_components.interleaving.locations import Location

End = Literal["input", "output"]


class Node(Protocol):
    """A thing with a path, ways to go on from it, and two ends that the forward passes."""

    @property
    def path(self) -> str:
        """Native path from the root, `"model.transformer.h.0.attn"`."""

    @property
    def parent(self) -> Node | None:
        """The node around this one; None for the root."""

    @property
    def root(self) -> Node:
        """The node at the top."""

    def get(self, name: str) -> Node:
        """The child module, alias, `source` or operation called `name`.

        Raises:
            AttributeError: there is none; the message lists the near names.
        """

    def location(self, end: End) -> Location:
        """The place the forward passes before (`"input"`) or after (`"output"`) what this node stands for."""


class OperationNode(Node, Protocol):
    """An operation of a forward."""

    @property
    def name(self) -> str:
        """Its label."""

    @property
    def line(self) -> int:
        """The line of the file that it stands in."""


class SourceNode(Node, Protocol):
    """The operations of a forward."""

    def playing(self, label: str, is_call: bool) -> OperationNode:
        """The operation that a key means by `label`, a call where the key needs one.

        Raises:
            AttributeError: there is none, or more than one; the message lists them.
        """

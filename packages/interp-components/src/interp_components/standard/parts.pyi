"""What an editor knows of the modules below a component: `model.layers[0].self_attn.o_proj.output.save()`.

Type checkers read this; a program that runs has no such classes, and the modules are envoys like any others.
"""

from collections.abc import Iterator
from typing import Any, overload

from interp_components.served import ServedTensor
from interp_components.standard.layer import Layer
from interp_components.tracing import Traceable

class OneTensor:
    """What a module is given, or returns, that works on one tensor; a block with more to return has it first."""

    def __get__(self, obj: Traceable, owner: type | None = None) -> ServedTensor: ...
    def __set__(self, obj: Traceable, value: Any) -> None: ...  # Any: the whole of what is returned, a tuple for some

class TensorEnvoy(Traceable):
    """A norm, a projection, an embedding."""

    input: OneTensor
    output: OneTensor

class Layers(Traceable):
    """The blocks."""

    @overload  # type: ignore[override]  # a list of blocks is no list of envoys to a type checker, since lists can be changed
    def __getitem__(self, index: int | str) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> list[Layer]: ...
    def __iter__(self) -> Iterator[Layer]: ...

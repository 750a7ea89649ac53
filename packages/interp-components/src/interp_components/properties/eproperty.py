"""A named value on an envoy, from `attn.attention_scores` and `attn.attention_scores = x` in a block.

A read asks, in this order: is the value there (`unavailable`), where is it (`key`, evaluated once), what does the model
serve there, which element of it (`select`), what does the stub make of it. A write asks the same and puts the element
back: availability, `postprocess`, key, a second read when only a part is replaced, then the whole goes to the model.

A value whose stub serves a copy or a reshaped view has a `transform`, which carries in-place edits back (see
`writeback`). Nothing is remembered between accesses except parsed text: an operation inside a called function exists
only after the call has been drilled in the run at hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from torch import Tensor

from interp_components import display, keys, layouts
from interp_components.interleaving import Location, Worker, current
from interp_components.properties import annotation, availability, selection
from interp_components.properties.resolve import resolve
from interp_components.properties.writeback import WriteBack

if TYPE_CHECKING:
    from interp_components.served import ServedTensor

# Any: a stub is a method of whatever envoy class carries the value, and the value is whatever the model serves there.
Stub = Callable[..., Any]
KeySource = str | Callable[[Any], str] | None
Self = TypeVar("Self", bound="EProperty[Any]")
V = TypeVar("V")
"""What a value is read as: by its stub's annotation, and anything when it has none."""
W = TypeVar("W")


class EProperty(Generic[V]):
    """A value of the running model under a name, served from the place that its key names.

    Used as a decorator on a stub `def name(self, value) -> Layout`, which turns what is served into what is read.

    Args:
        key: A path (see `keys`), a function of the host that returns one and is evaluated on each access, or None for
            the attribute's own name.
        description: The line that the value has in an envoy's repr; the stub's first docstring line when None, and no
            line when empty.
        unavailable: The reason why the value is not there, or a predicate `f(envoy) -> str | None`.
        select: The element of what is served (see `selection`), or a function of the host that returns it.
    """

    _postprocess: Stub | None = None
    _transform: Stub | None = None

    def __init__(
        self: EProperty[Any],
        key: KeySource = None,
        description: str | None = None,
        unavailable: availability.Availability = None,
        select: selection.Select = None,
    ) -> None:
        self._key = key
        self._parsed: keys.Key | None = None
        self.name = ""
        self.description = description
        self.unavailable = unavailable
        self.select = select
        self._preprocess: Stub | None = None
        self._hint: Any = None

    def __call__(self, stub: Callable[[Any, Any], W]) -> EProperty[W]:
        """Take the stub: its name, its docstring, its layout, and what it makes of a served value."""
        self._preprocess = stub
        self.__doc__ = stub.__doc__
        self._named(stub.__name__)
        taken: Any = self  # Any: from here on it is of the type that the stub says
        return taken  # type: ignore[no-any-return]  # see above

    def postprocess(self: Self, function: Stub) -> Self:
        """Take `f(self, assigned)`, which turns an assigned value into what the model goes on with."""
        self._postprocess = function
        return self

    def transform(self: Self, function: Stub) -> Self:
        """Take `f(self, view, raw)`, which turns an edited view back into the element that the stub was given.

        It is called once per read, edited or not, so it returns an equal element for a view that was left alone.
        """
        self._transform = function
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the name from the class body, and the layout while the scope around the class is still there.

        A marker such as `scores = unavailable("...")` is never called on a stub, so this is where it gets its name.
        """
        self._named(name)
        if self._preprocess is not None and self._hint is None:
            self._hint = annotation.hint_in_frame(self._preprocess, sys._getframe(1))

    def _named(self, name: str) -> None:
        # The first name stays: `@value.transform def _carry_back(...)` binds the descriptor a second time.
        self.name = self.name or name
        if self._key is None:
            self._key = self.name
        text = getattr(self._preprocess, "__doc__", None)
        if self.description is None and text:
            self.description = text.strip().splitlines()[0].rstrip(".")

    @property
    def key(self) -> str:
        """The path, or what stands for one that is computed on each access."""
        return f"<function {getattr(self._key, '__name__', '?')}>" if callable(self._key) else str(self._key)

    def inside_forward(self) -> bool:
        """Return whether the value is an operation inside a forward, which a release of transformers can move."""
        return callable(self._key) or keys.SOURCE in str(self._key).split(".")

    def reason(self, obj: Any) -> str | None:
        """Return why the value is not there on this envoy, or None when it is."""
        return availability.reason_for(self.unavailable, obj, self.name)

    @property
    def layout(self) -> Any:
        """The layout that the stub returns, the same object everywhere; None when the stub says nothing."""
        return annotation.without_none(self._return_hint())

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the axes, in order."""
        return layouts.dims(self.layout)

    @property
    def is_optional(self) -> bool:
        """Whether the value may be None while the model runs."""
        return annotation.is_optional(self._return_hint())

    def __str__(self) -> str:
        """Return the line that the value has in an envoy's repr."""
        hint = self._return_hint()
        return display.value_line(
            self.name,
            layout=None if hint is None else layouts.layout_name(annotation.without_none(hint)),
            dims=self.dims,
            is_optional=self.is_optional,
            description=self.description,
        )

    def _return_hint(self) -> Any:
        if self._hint is None and self._preprocess is not None:
            self._hint = annotation.return_hint(self._preprocess)
        return self._hint

    @overload
    def __get__(self: Self, obj: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self: EProperty[Tensor], obj: Any, owner: type | None = None) -> ServedTensor: ...
    @overload
    def __get__(self, obj: Any, owner: type | None = None) -> V: ...
    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        """Return the value at this point of the running model; the descriptor itself on a class."""
        if obj is None:
            return self
        if self.unavailable is not None:
            availability.require(self.unavailable, obj, self.name)
        worker = current(f"{obj.path}.{self.name}")
        key = self._parsed or self._parse_for(obj)
        location = obj.location(key.end) if key.is_own else resolve(obj, key, self.name)
        if self._transform is not None:
            return self._editable(obj, worker, location, key)
        return self._viewed(obj, self._picked(obj, key, worker.read(location)))

    def __set__(self, obj: Any, value: V) -> None:
        """Replace the value in the running model."""
        if self.unavailable is not None:
            availability.require(self.unavailable, obj, self.name)
        worker = current(f"{obj.path}.{self.name}")
        if self._postprocess is not None:
            value = self._postprocess(obj, value)
        key = self._parsed or self._parse_for(obj)
        location = resolve(obj, key, self.name)
        self._replace(obj, worker, location, key, value)

    def _parse_for(self, obj: Any) -> keys.Key:
        if callable(self._key):
            return keys.parse(self._key(obj), self._selects)
        self._parsed = keys.parse(str(self._key), self._selects)
        return self._parsed

    @property
    def _selects(self) -> bool:
        return self.select is not None and self.select != selection.FIRST

    def _select_for(self, obj: Any) -> int | str | None:
        return self.select(obj) if callable(self.select) else self.select

    def _viewed(self, obj: Any, raw: Any) -> Any:
        return raw if self._preprocess is None else self._preprocess(obj, raw)

    def _picked(self, obj: Any, key: keys.Key, served: Any) -> Any:
        if self.select is None and key.attribute == "output":
            return served
        return selection.pick(key.attribute, served, self._select_for(obj))

    def _replace(self, obj: Any, worker: Worker, location: Location, key: keys.Key, value: Any) -> None:
        select = self._select_for(obj)
        if selection.changes_part(key.attribute, select):
            value = selection.put(key.attribute, worker.look(location), select, value)
        worker.replace(location, value)

    def _editable(self, obj: Any, worker: Worker, location: Location, key: keys.Key) -> Any:
        occurrence = worker.occurrence(location)
        held = WriteBack.held_by(worker)
        if held is not None and held.answers(self, location, occurrence):
            return held.view
        raw = self._picked(obj, key, worker.read(location))
        view = self._viewed(obj, raw)

        def carry_back() -> None:
            assert self._transform is not None
            self._replace(obj, worker, location, key, self._transform(obj, view, raw))

        WriteBack(self, worker, location, occurrence, view, carry_back).hold()
        return view


def unavailable(reason: availability.Availability) -> EProperty[Any]:
    """Return a marker for a value that a component does not have: `attention_scores = unavailable("...")`."""
    text = reason if isinstance(reason, str) else "depends on the module"
    return EProperty(description=f"Unavailable: {text}", unavailable=reason)

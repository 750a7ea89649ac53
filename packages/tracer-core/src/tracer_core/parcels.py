"""Named values as bytes, for another process: what a block reads on the way out, what it saved on the way back.

All values go through one pickler, one after the other.  So two names of one object still share one object at the
other end, and a value that cannot travel is known by its name.  Three kinds of value are not left to pickle:

- a module goes by name and is imported at the other end;
- a plain function of `__main__` goes as source text with the globals it reads, since another process has another
  `__main__`; nothing of it depends on the Python version;
- with cloudpickle installed, its pickler does the rest, so lambdas, closures and classes of `__main__` travel too.
"""

from __future__ import annotations

import dis
import functools
import importlib
import inspect
import io
import linecache
import pickle
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from tracer_core import compile as compiling
from tracer_core.failures import NotPortable

# Every supported Python reads it; a newer one of the sender may not be known to the receiver.
PROTOCOL = 5


class _Source(NamedTuple):
    """Text that defines a function of `__main__`, in its place in its file."""

    text: str
    filename: str
    flags: int

    def codes(self, name: str) -> list[CodeType]:
        """Return the code of the functions called `name` at the top level of the text."""
        return [code for code in _compiled(self) if isinstance(code, CodeType) and code.co_name == name]


@functools.lru_cache(maxsize=32)
def _compiled(source: _Source) -> tuple[object, ...]:
    module: CodeType = compile(source.text, source.filename, "exec", flags=source.flags, dont_inherit=True)
    return module.co_consts


class _MainNames:
    """Stands for the globals of `__main__` in one parcel; at the other end all its functions share one dict."""

    def __reduce__(self) -> tuple[Callable[[], dict[str, Any]], tuple[()]]:
        return _main_names, ()


def pack(values: Mapping[str, Any], of: str) -> bytes:
    """Return `values` as bytes that `unpack` reads in a process of any supported Python version.

    Args:
        values: what is to travel, by name.
        of: what the names belong to, for the error: "the block at app.py:12".

    Raises:
        NotPortable: a value cannot be pickled; the message names it.
    """
    parcel = io.BytesIO()
    pickler = _pickler_class()(parcel, PROTOCOL)
    pickler.dump(list(values))
    for name, value in values.items():
        _dump(pickler, name, value, of)
    return parcel.getvalue()


def unpack(parcel: bytes, of: str) -> dict[str, Any]:
    """Return the values of a parcel by name.

    Raises:
        NotPortable: a value cannot be made again in this process; the message names it.
    """
    unpickler = pickle.Unpickler(io.BytesIO(parcel))
    return {name: _load(unpickler, name, of) for name in unpickler.load()}


def _dump(pickler: pickle.Pickler, name: str, value: Any, of: str) -> None:
    try:
        pickler.dump(value)
    # A value's own __reduce__ runs here, and raises whatever it likes.
    except Exception as error:
        raise NotPortable(_cannot_leave(name, value, of, error)) from error


def _load(unpickler: pickle.Unpickler, name: str, of: str) -> Any:
    try:
        return unpickler.load()
    except Exception as error:
        raise NotPortable(
            f"the value of {name!r} of {of} cannot be made again in the process that received it "
            f"({type(error).__name__}: {error}). Both processes need the module it comes from, in versions that "
            f"agree; what __main__ defines is best moved into a module that both import."
        ) from error


def _cannot_leave(name: str, value: object, of: str, error: Exception) -> str:
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    text = (
        f"the value of {name!r} of {of} cannot travel to another process: it is a {kind} "
        f"({type(error).__name__}: {error}). Make it inside the block instead, or run the block on threads, which "
        f"share it."
    )
    if _cloudpickle() is None:
        text += (
            " For a lambda, a closure or a class of __main__ it is enough to install cloudpickle: "
            "pip install 'tracer-core[distributed]'."
        )
    return text


def _cloudpickle() -> ModuleType | None:
    """Return cloudpickle if it is installed; imported late, since most users of tracer_core never pack a parcel."""
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return None


@functools.cache
def _pickler_class() -> type[pickle.Pickler]:
    """Return the pickler with our three rules on top of cloudpickle's, or of plain pickle's."""
    cloudpickle = _cloudpickle()
    base: Any = cloudpickle.Pickler if cloudpickle else pickle.Pickler

    class ParcelPickler(base):  # type: ignore[misc]  # the base is known at run time only
        def __init__(self, file: io.BytesIO, protocol: int) -> None:
            super().__init__(file, protocol)
            self.main_names = _MainNames()

        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value:
                return importlib.import_module, (value.__name__,)
            if isinstance(value, FunctionType) and (source := _source_of(value)):
                return _function_parts(value, source, self.main_names)
            return super().reducer_override(value) if cloudpickle else NotImplemented

    return ParcelPickler


def _function_parts(function: FunctionType, source: _Source, main_names: _MainNames) -> tuple[Any, ...]:
    """Return the pickle recipe of a function that goes as source.

    Its globals are the recipe's state, which is pickled after the function itself: so it may read its own name.
    """
    reads = {
        name: function.__globals__[name] for name in _global_reads(function.__code__) if name in function.__globals__
    }
    state = (function.__defaults__, function.__kwdefaults__, reads)
    return _function, (source, function.__code__.co_name, main_names), state, None, None, _set_function


def _source_of(function: FunctionType) -> _Source | None:
    """Return the text of a function at the top level of `__main__`, or None.

    None also where the text does not compile to the code that is running: the file was edited, or the code rewritten.
    The whole file is compiled for this, since what a file imports at its top changes how its functions are compiled.
    """
    code = function.__code__
    if function.__module__ != "__main__" or function.__qualname__ != code.co_name or code.co_name == "<lambda>":
        return None
    lines = linecache.getlines(code.co_filename, function.__globals__)
    whole = _Source("".join(lines), code.co_filename, code.co_flags & compiling._FUTURE)
    try:
        if code not in whole.codes(code.co_name):
            return None
    except (SyntaxError, ValueError):
        return None
    definition = textwrap.dedent("".join(inspect.getblock(lines[code.co_firstlineno - 1 :])))
    return whole._replace(text="\n" * (code.co_firstlineno - 1) + definition)


def _global_reads(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_reads(constant)


def _main_names() -> dict[str, Any]:
    return {"__name__": "__main__"}


def _function(source: _Source, name: str, names: dict[str, Any]) -> FunctionType:
    return FunctionType(source.codes(name)[-1], names, name)


def _set_function(function: FunctionType, state: tuple[Any, Any, dict[str, Any]]) -> None:
    function.__defaults__, function.__kwdefaults__, reads = state
    function.__module__ = "__main__"
    function.__globals__.update(reads)

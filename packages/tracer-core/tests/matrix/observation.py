"""Runs a program under a manager and tells all that can be seen of it: what it logged, its names, how it ended.

A program is text that enters `manager()` in some of its `with` statements. Run with `InPlace` it is what Python makes of
it; run with `Traced` its blocks are deferred, inside a trace, so that all their names come back; run with `Dry` they are
not run at all.
"""

import linecache
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tracer_core import Tracer

_ADDRESS = re.compile(r"0x[0-9a-f]+")


class Iterated:
    """Unpacks like a pair, for targets such as `as (t, u)`."""

    def __iter__(self) -> Iterator[int]:
        return iter((1, 2))


class InPlace(Iterated):
    """Leaves the block to Python."""

    def __enter__(self) -> "InPlace":
        return self

    def __exit__(self, *error: object) -> None:
        """Let every error through."""

    async def __aenter__(self) -> "InPlace":
        return self

    async def __aexit__(self, *error: object) -> None:
        """Let every error through."""


class Traced(Tracer, Iterated):
    """Defers the block to the end of its `with` statement."""


class Idle:
    """Never runs a block."""

    def __call__(self, tracer: Tracer) -> None:
        """Leave `tracer` alone."""


class Dry(Traced):
    """Captures the block, and does not run it."""

    def __init__(self) -> None:
        super().__init__(Idle())


class Box:
    """Anything with attributes."""

    def __init__(self) -> None:
        self.content = 1


@dataclass
class Other:
    """A manager that tells when it is entered and left, and takes errors where `swallows`."""

    name: str
    log: Callable[..., None]
    swallows: bool = False

    def __enter__(self) -> str:
        self.log("enter", self.name)
        return self.name

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        self.log("exit", self.name, kind)
        return self.swallows


class Unit(NamedTuple):
    """A program, ready to run."""

    code: types.CodeType
    lines: list[str]
    has_own_locals: bool


def unit(text: str, filename: str, *, has_own_locals: bool = False) -> Unit:
    """Compile `text`; `has_own_locals` runs it like `exec(text, globals, locals)`."""
    return Unit(compile(text, filename, "exec", dont_inherit=True), text.splitlines(keepends=True), has_own_locals)


class Observed(NamedTuple):
    """What can be seen of a run."""

    log: list[Any]
    names: dict[str, Any]
    error: Any


def in_place(program: Unit) -> Observed:
    """Run `program` as it stands."""
    return _observe(program, InPlace)


def traced(program: Unit) -> Observed:
    """Run `program` with its blocks deferred, from inside a trace, which hands all of their names back."""
    observed: list[Observed] = []
    with Tracer():
        observed.append(_observe(program, Traced))
    return observed[0]


def dry(program: Unit) -> Observed:
    """Run `program` without its blocks."""
    return _observe(program, Dry)


def _observe(program: Unit, manager: type[Any]) -> Observed:
    events: list[Any] = []
    filename = program.code.co_filename

    def log(*values: Any) -> None:
        events.append([described(value, filename) for value in values])

    provided = {
        "__name__": "program",
        "manager": manager,
        "log": log,
        "see": lambda names: events.append(_variables(names, provided, filename)),
        "noted": lambda value: log(value) or value,
        "shared": 0,
        "other": lambda name: Other(name, log),
        "swallow": lambda name: Other(name, log, swallows=True),
        "Box": Box,
        "never": False,
        "drive": drive,
    }
    namespace = dict(provided)
    own_locals: dict[str, Any] = {} if program.has_own_locals else namespace
    linecache.cache[filename] = len(program.lines), None, program.lines, filename
    try:
        exec(program.code, namespace, own_locals)
        failure = None
    except Exception as error:
        _log_variables(error, program.code, events, provided)
        failure = described(error, filename)
    finally:
        del linecache.cache[filename]
    names = _variables({**namespace, **own_locals}, provided, filename)
    return Observed(events, names, failure)


def drive(coroutine: Any) -> Any:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError(f"{coroutine!r} waits for something")


# The functions and classes that blocks stand in.
_OUTSIDE = frozenset({"around", "case", "Case"})


def _log_variables(error: BaseException, code: types.CodeType, events: list[Any], provided: dict[str, Any]) -> None:
    """Log the variables of the functions around the block that `error` left; a deferred block is no code of the program."""
    own = set(map(id, _all_code(code))) - {id(code)}
    traceback = error.__traceback__
    frames: list[types.FrameType] = []  # an error that was raised again may have come through a frame twice
    while traceback is not None:
        frame = traceback.tb_frame
        if id(frame.f_code) in own and frame.f_code.co_name in _OUTSIDE and frame not in frames:
            frames.append(frame)
        traceback = traceback.tb_next
    filename = code.co_filename
    events.extend([frame.f_code.co_name, _variables(dict(frame.f_locals), provided, filename)] for frame in frames)


def _all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all_code(constant)


def _variables(names: dict[str, Any], provided: dict[str, Any], filename: str) -> dict[str, Any]:
    return {
        name: described(value, filename)
        for name, value in sorted(names.items())
        if name not in {"__builtins__", "__classdict__"} and not (name in provided and provided[name] is value)
    }


def described(value: Any, filename: str, depth: int = 9) -> Any:
    """Return `value`, down to a `depth`, such that it is equal to that of another run if it is the same for a user."""
    if not depth:
        return "..."
    deeper = depth - 1
    match value:
        case InPlace() | Tracer():
            return "<manager>"
        case Box():
            return "Box", described(vars(value), filename, deeper)
        case BaseException():
            return _chain(value, filename, ())
        case type():
            own = {name: part for name, part in vars(value).items() if name not in _OF_A_CLASS}
            return (
                "class",
                value.__qualname__,
                described(own, filename, deeper) if value.__module__ == "program" else None,
            )
        case types.FunctionType():
            return "function", value.__qualname__, value.__annotations__ and sorted(value.__annotations__)
        case dict():
            return {described(key, filename, deeper): described(part, filename, deeper) for key, part in value.items()}
        case list() | tuple():
            return type(value).__name__, [described(part, filename, deeper) for part in value]
    return _ADDRESS.sub("0x", repr(value))


_OF_A_CLASS = frozenset({"__classdict__", "__dict__", "__weakref__", "__firstlineno__"})


def _chain(error: BaseException, filename: str, above: tuple[BaseException, ...]) -> Any:
    """Describe `error` by its type, its words, the line it came from and the errors it is chained to."""
    if error in above:
        return "again"
    above = (*above, error)
    linked = (error.__cause__, error.__context__)
    parts = getattr(error, "exceptions", ())
    return (
        type(error).__name__,
        str(error),
        _last_place(error, filename),
        error.__suppress_context__,
        [None if link is None else _chain(link, filename, above) for link in linked],
        [_chain(part, filename, above) for part in parts],
    )


def _last_place(error: BaseException, filename: str) -> Any:
    """Return the function and the line where the program was left."""
    traceback, place = error.__traceback__, None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == filename:
            place = code.co_name, traceback.tb_lineno
        traceback = traceback.tb_next
    return place

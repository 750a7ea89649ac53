"""Where a `with` body begins, what it runs through and where it ends, found by walking the bytecode.

From the instruction that calls `__enter__` the walk stores the `as` target, and where that is done the body begins. From
there it follows every path, jump and exception handler, keeping the shape of the stack, until the call of `__exit__`
that a block makes when it ends normally. Exceptions that go to the `with` itself leave the body; those that go to a
handler inside it do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from typing import NamedTuple

from tracer_core import bytecode
from tracer_core.bytecode import Handler
from tracer_core.carve.instructions import ENDS, CannotCarve, Instruction, Instructions

Stack = tuple["int | None", ...]
"""What the body has on the stack, bottom first: the slot of a variable that an inlined comprehension put aside (3.12+:
LOAD_FAST_AND_CLEAR), None for all else. While a slot is on the stack, its variable is the comprehension's own."""

_LEAVES = "`return`, `break` or `continue` leaves the block, which runs apart from the code around it"


class Flow(NamedTuple):
    """A `with` body as places in the bytecode of its function."""

    start: int
    """Where the body begins."""
    stacks: dict[int, Stack]
    """Every place that belongs to the body, and the stack before it."""
    covers: dict[int, Handler]
    """Where exceptions of the body are handled inside it; `depth` counts from the body's own stack."""
    end: int | None
    """Where `__exit__` is called after the body; None when the body always raises or never ends."""
    is_async: bool
    """Whether it is the body of an `async with`."""


def walk(instructions: Instructions, enter: int) -> Flow:
    """Return what the `with` runs whose `__enter__` is called by the instruction at `enter`.

    Raises:
        CannotCarve: no `with` is entered there, or the body leaves by other ways than its end, or it yields.
    """
    entered = bytecode.enter_at(instructions.code.co_code, enter)
    outer = instructions.cover(_settled(instructions, entered.after)) if entered else None
    if entered is None or outer is None:
        raise CannotCarve("no `with` is entered there", instructions.line(enter))
    if entered.is_async and not instructions.code.co_flags & CO_OPTIMIZED:
        raise CannotCarve("an `async with` outside of functions has no names that a coroutine can keep")
    path = _Walk(instructions, outer)
    start = path.target(entered.after)
    path.body(start)
    path.refuse_yields(entered.is_async)
    if path.end is not None and not _leads_on(instructions, path.end, outer):
        raise CannotCarve(_LEAVES, instructions.line(path.end))
    return Flow(start, path.stacks, path.covers, path.end, entered.is_async)


class _Walk:
    """One walk through one body."""

    def __init__(self, instructions: Instructions, outer: Handler) -> None:
        self.instructions = instructions
        self.outer = outer
        self.stacks: dict[int, Stack] = {}
        self.covers: dict[int, Handler] = {}
        self.end: int | None = None

    def target(self, entered: int) -> int:
        """Return where the body begins: where what `__enter__` returned is off the stack."""
        seen: set[int] = set()
        ahead: list[tuple[int, Stack]] = [(entered, (None,))]
        while ahead:
            place, stack = ahead.pop()
            if not stack:
                return place
            if place not in seen:
                seen.add(place)
                ahead += self._next(self.instructions.at(place), stack)
        raise CannotCarve("the end of the `as` target is not found", self._line(entered))

    def body(self, start: int) -> None:
        """Note every place of the body that begins at `start`."""
        ahead: list[tuple[int, Stack]] = [(start, ())]
        while ahead:
            place, stack = ahead.pop()
            if place in self.stacks:
                if self.stacks[place] != stack:
                    raise CannotCarve("two paths meet with different stacks", self._line(place))
            elif not stack and self._is_exit(place):
                if self.end not in {None, place}:
                    raise CannotCarve(_LEAVES, self._line(place))
                self.end = place
            else:
                self.stacks[place] = stack
                ahead += self._next(self.instructions.at(place), stack)
                ahead += self._handler(place, stack)

    def refuse_yields(self, is_async: bool) -> None:
        """Refuse what suspends the function around the body; only that of an `async with` may wait."""
        yields = [place for place in sorted(self.stacks) if self._suspends(place, is_async)]
        if yields:
            what = "`yield`s" if is_async else "`yield`s or `await`s"
            raise CannotCarve(f"the block {what}, and runs apart from the function around it", self._line(yields[0]))

    def _next(self, instruction: Instruction, stack: Stack) -> Iterator[tuple[int, Stack]]:
        """Give the places that may come after `instruction`, each with its stack."""
        if instruction.op not in ENDS:
            yield instruction.following, self._after(instruction, stack, jump=False)
        if instruction.target is not None and instruction.op != "END_ASYNC_FOR":
            yield instruction.target, self._after(instruction, stack, jump=True)

    def _after(self, instruction: Instruction, stack: Stack, *, jump: bool) -> Stack:
        """Return the stack after `instruction`, whose effect below the top only SWAP needs to be known exactly."""
        op, arg = instruction.op, instruction.arg
        if op == "LOAD_FAST_AND_CLEAR":
            return (*stack, arg)
        effect = instruction.effect(jump=jump)
        if -effect > len(stack) or (op in {"SWAP", "COPY"} and arg > len(stack)):
            raise CannotCarve(_LEAVES, self._line(instruction.place))
        if op == "SWAP":
            return (*stack[:-arg], stack[-1], *stack[len(stack) - arg + 1 : -1], stack[-arg])
        return stack[:effect] if effect < 0 else stack + (None,) * effect

    def _handler(self, place: int, stack: Stack) -> Iterator[tuple[int, Stack]]:
        """Give the handler of exceptions at `place` when it belongs to the body, with the stack that it finds."""
        cover = self.instructions.cover(place)
        if cover is None or cover.target == self.outer.target:
            return
        depth = cover.depth - self.outer.depth
        if not 0 <= depth <= len(stack):
            raise CannotCarve(_LEAVES, self._line(place))
        self.covers[place] = cover._replace(depth=depth)
        yield cover.target, (*stack[:depth], *(None,) * (1 + cover.lasti))

    def _is_exit(self, place: int) -> bool:
        """Tell whether the call of `__exit__` that ends the block begins at `place`."""
        cover = self.instructions.cover(place)
        return (cover is None or cover.target != self.outer.target) and _exit_call(self.instructions, place) is not None

    def _suspends(self, place: int, is_async: bool) -> bool:
        """Tell whether the instruction at `place` yields, not just waits; an async generator wraps what it yields."""
        instruction = self.instructions.at(place)
        if is_async:
            return instruction.op == "ASYNC_GEN_WRAP" or (instruction.op, instruction.arg) == ("CALL_INTRINSIC_1", 4)
        return instruction.op == "YIELD_VALUE"

    def _line(self, place: int) -> int | None:
        return self.instructions.line(place)


def _after_await(instructions: Instructions, place: int) -> int:
    """Return the place after the `await` that an `async with` makes at `place`; `place` itself where there is none."""
    if instructions.at(place).op != "GET_AWAITABLE":
        return place
    while (target := instructions.at(place).target) is None:
        place = instructions.at(place).following
    done = instructions.at(target)
    return done.following if done.op == "END_SEND" else target


def _exit_call(instructions: Instructions, place: int) -> int | None:
    """Return the place after the call `__exit__(None, None, None)` at `place`, None when there is no such call."""
    for _ in range(3):
        instruction = instructions.at(place)
        if not instructions.loads_none(instruction):
            return None
        place = instruction.following
    for expected in instructions.dialect.exit_call:
        instruction = instructions.at(place)
        if (instruction.op, instruction.arg) != expected:
            return None
        place = instruction.following
    return place


def _leads_on(instructions: Instructions, end: int, outer: Handler) -> bool:
    """Tell whether the block that ends at `end` goes on where a swallowed exception goes on.

    A block whose only end is a `break` out of it has one call of `__exit__`, as a block that ends normally; but
    a tracer swallows its own exception, and then the function goes on behind the block.
    """
    called = _exit_call(instructions, end)
    assert called is not None  # that is how the walk knew the end
    normal = instructions.at(_after_await(instructions, called)).following
    place = outer.target
    while not instructions.at(place).op.endswith("IF_TRUE"):
        place = _after_await(instructions, instructions.at(place).following)
    swallowed = instructions.at(place).target
    for _ in range(instructions.dialect.swallowed):
        if swallowed is not None:
            swallowed = instructions.at(_settled(instructions, swallowed)).following
    return swallowed is not None and _same(instructions, normal, swallowed)


def _same(instructions: Instructions, one: int, other: int, most: int = 16) -> bool:
    """Tell whether two places run the same: they meet, or (the compiler copies short ends) are equal to the end."""
    for _ in range(most):
        one, other = _settled(instructions, one), _settled(instructions, other)
        if one == other:
            return True
        first, second = instructions.at(one), instructions.at(other)
        if (_plain(first.op), first.arg) != (_plain(second.op), second.arg) or first.target is not None:
            return False
        if first.op in ENDS:
            return True
        one, other = first.following, second.following
    return False


def _settled(instructions: Instructions, place: int) -> int:
    """Follow `place` over what does nothing but go on."""
    seen = set()
    while place not in seen:
        seen.add(place)
        instruction = instructions.at(place)
        if instruction.op.startswith("JUMP_") and instruction.op in ENDS and instruction.target is not None:
            place = instruction.target
        elif instruction.op in {"NOP", "NOT_TAKEN"}:
            place = instruction.following
    return place


def _plain(op: str) -> str:
    """Return `op` without what depends on the path to it: whether a variable is bound for sure, or may be borrowed."""
    return op.removesuffix("_BORROW").removesuffix("_CHECK")

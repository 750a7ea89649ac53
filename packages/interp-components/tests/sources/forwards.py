"""Functions with every statement and expression that can hold an operation, for the tests of guards.

Each takes `f`, which writes down what it is called with and returns it, and returns what it computed.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager

COUNT = 0


class Box:
    """An object whose methods return it, whose items and attributes can be set, and which counts."""

    def __init__(self, f):
        self.f = f
        self.items = {}
        self.total = 1

    def step(self, *args, **kwargs):
        self.f(("step", args, kwargs))
        return self

    def __getitem__(self, key):
        self.f(("get", key))
        return self.items.get(key, 0)

    def __setitem__(self, key, value):
        self.f(("set", key, value))
        self.items[key] = value


def chained_calls(f):
    box = Box(f)
    return box.step().step(1).step(*[2], **{"a": 3}).step(a=f(4)).step(f(5)).step().total


def call_of_a_call(f):
    def make(n):
        return lambda m: f(n + m)

    return make(f(1))(f(2)) + (lambda: f(3))()


def arguments(f):
    return f((dict(a=f(1), **{"b": f(2)}), [*map(f, [3, 4])], {**dict(c=5)}))


def calls_in_arguments(f):
    box = Box(f)
    pair, named = [f(1), f(2)], {"b": f(3)}
    box.step(f(4), *pair, box.total, key=f(5), **named, last=f(f(6))).step(*map(f, pair), (y := f(7)), y)
    try:
        dict(b=f(8), **named)
    except TypeError as error:
        f(str(error))
    return box.step(box.step(f(10)).total).total, sorted([f(x) for x in pair], reverse=f(True))


def bindings(f):
    box = Box(f)
    first = f(1)
    second: int = f(2)
    declared: int
    box.total = f(3)
    box["key"] = f(4)
    box.extra: int = f(5)
    third = fourth = f(6)
    return first, second, third, fourth, box.total, box["key"], box.extra


def unpackings(f):
    box = Box(f)
    a, b = f(1), f(2)
    c, (d, *e) = f((3, (4, 5, 6)))
    box.total, g = f((7, 8))
    i, box[i] = f((9, 10))
    [h, *box.rest] = f([11, 12, 13])
    j = k, m = f((14, 15))
    box[f(0)], *n = f([16, 17])
    return a, b, c, d, e, g, i, h, j, k, m, n, box.items, box.total, box.rest


def augmented(f):
    box = Box(f)
    total = f(1)
    total += f(2)
    total **= 2
    box.total -= f(3)
    box["key"] += f(4)
    box[f("called")] |= f(5)
    return total, box.total, box.items


def branches(f):
    found = []
    for n in range(f(4)):
        if f(n) == 1:
            continue
        elif f(n) == 3:
            break
        else:
            found.append(f(n) if n else f(-1))
    else:
        f("not reached")
    while len(found) < f(4):
        found.append(f(len(found)))
    else:
        f("ended")
    return found


def walrus(f):
    if (n := f(3)) > 2 and (m := f(n) + 1):
        return n, m, [k := f(j) for j in range(2)], k
    return None


def comprehensions(f):
    box = Box(f)
    squares = [f(n) * f(n) for n in range(f(3)) if f(n) != 1]
    pairs = {f(n): box.step(n).total for n in box.step().step().f([1, 2])}
    nested = {f((n, m)) for n in range(2) for m in map(f, range(n + 1))}
    lazy = list(f(n).real for n in iter([f(7), f(8)]))
    return squares, pairs, sorted(nested), lazy


def managers(f):
    @contextmanager
    def manager(n):
        f(("enter", n))
        yield n
        f(("exit", n))

    with manager(f(1)) as one, manager(f(2)):
        f("inside")
        return f(one)


def exceptions(f):
    try:
        try:
            raise ValueError(f("message"))
        except (TypeError, ValueError) as error:
            f(str(error))
            return f("handled")
        else:
            f("not reached")
        finally:
            f("finally")
    finally:
        f("outer")


def matching(f):
    match f((1, Box(f))):
        case (int(n), Box(total=total)) if f(total):
            return f(n + total)
        case _:
            return None


def inner_functions(f):
    seen = 0

    def counted(step=f(2), *, more=f(3)):
        nonlocal seen
        seen += f(step)
        return f(more)

    class Inner:
        value = f(4)

        def method(self):
            return f(self.value)

    counted()
    counted(5, more=6)
    return seen, Inner().method(), (lambda n=f(7): f(n))()


def decorated(f):
    def twice(n):
        return lambda g: lambda *args: [g(*args) for _ in range(n)]

    @twice(f(2))
    def inner(n):
        return f(n)

    return inner(f(1))


def global_names(f):
    global COUNT
    COUNT = f(0)
    COUNT += f(2)
    return COUNT


def generators(f):
    def produce():
        received = yield f(1)
        yield f(received)
        return f(3)

    def outer():
        return (yield from produce())

    run = outer()
    return next(run), run.send(f(2)), list(run)


def coroutines(f):
    async def value(n):
        return f(n)

    async def gather():
        return [await value(n) async for n in numbers()], await value(f(9))

    async def numbers():
        for n in range(f(2)):
            yield n

    return asyncio.run(gather())


def strings(f):
    width = f(5)
    return f"{f('a')!r:>{f(width)}} {Box(f).step(f(1)).total}"


def conditions(f):
    assert f(1), f("not evaluated")
    checks = f(1) < f(2) < f(3) > f(9) > f("not evaluated")
    return checks or f(0) or f(4), not f(0), (f(1), f(2))[f(1)], [1, 2, 3][f(0) : f(2)]


def deletions(f):
    values = {"a": f(1), "b": f(2)}
    del values[f("a")]
    return values


def falsy_receivers(f):
    return f("").join(f([])).strip(f("")) == "", f(0).real.bit_length(), f([]).copy().count(f(1))


class Base:
    def forward(self, f):
        return f(("base", self.name))


class Derived(Base):
    name = "derived"
    __private = 3

    def forward(self, f):
        self.__private += f(1)
        return super().forward(f), self.__private, __class__.__name__, self.__hidden(f)

    def __hidden(self, f):
        return f(2)


def methods(f):
    return Derived().forward(f)


FORWARDS = [
    chained_calls, call_of_a_call, arguments, calls_in_arguments, bindings, unpackings, augmented, branches, walrus, comprehensions, managers,
    exceptions, matching, inner_functions, decorated, global_names, generators, coroutines, strings, conditions, deletions,
    falsy_receivers,
]  # fmt: skip

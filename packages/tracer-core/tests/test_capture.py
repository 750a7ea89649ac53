"""From the caller's frame to a block, once per site."""

import asyncio
import builtins
import copy
import enum
import gc
import pickle
import sys
from types import CellType

import pytest

from tracer_core import (
    InPlaceBackend,
    SourceNotAvailable,
    Tracer,
    TraceSuspended,
    WithBlockNotFoundError,
    bytecode,
    locate,
    save,
    scope,
    skip,
)
from tracer_core.site import SITES, Sites
from tracer_core.skip import monitoring


class Idle:
    """A backend that does not run the block."""

    def __call__(self, tracer):
        self.tracer = tracer


def executed(tmp_path, text, **names):
    """Run `text` as a file with `names`, and return its names."""
    file = tmp_path / "program.py"
    file.write_text(text)
    names.update(Tracer=Tracer, save=save, Idle=Idle)
    exec(compile(text, str(file), "exec"), names)
    return names


def a_site(enter):
    """Return a site that is entered at the offset `enter`."""
    with Tracer() as tracer:
        pass
    site = copy.copy(tracer.block.site)
    site.enter = enter
    return site


def test_a_site_goes_with_its_code():
    """Code that is made and dropped leaves nothing in the caches."""
    sites = Sites()
    code = compile("with a:\n    b\n", "made.py", "exec")
    enter = next(bytecode.enters(code.co_code))
    skip.way(code, enter.after + 2, starts_line=True)
    sites.add(code, a_site(enter.offset))
    key = id(code)

    del code
    gc.collect()

    assert sites == {}
    assert key not in monitoring._line_points


def test_equal_code_in_two_files_is_two_sites(tmp_path):
    """Code objects that compare equal do not share a block."""
    text = "def f():\n    with Tracer() as t:\n        x = save(1)\n    return t\n"
    first = executed(tmp_path, text)["f"]().block
    (tmp_path / "other").mkdir()
    second = executed(tmp_path / "other", text)["f"]().block

    assert first.site is not second.site
    assert first.filename != second.filename


def test_a_wrapped_enter_after_an_early_capture_finds_the_same_block():
    """The block that was captured early is the one that is entered, also through a subclass's `__enter__`."""

    class Wrapped(Tracer):
        def __enter__(self):
            return super().__enter__()

    def trace():
        tracer = Wrapped()
        tracer.capture()
        return tracer

    with trace():
        kept = save([1])

    assert kept == [1]


def test_an_early_capture_that_is_entered_elsewhere_is_refused():
    """A tracer that captured one `with` cannot be entered by another."""

    def trace():
        tracer = Tracer()
        tracer.capture()
        tracers.append(tracer)
        return tracer

    tracers = []
    with pytest.raises(WithBlockNotFoundError), trace():
        with tracers[0]:
            pass


def test_a_call_between_two_blocks_captures_neither(tmp_path):
    """An early capture outside of every header finds nothing."""
    text = (
        "def trace():\n    tracer = Tracer()\n    tracer.capture()\n    return tracer\n"
        "def f():\n    with Tracer():\n        pass\n    found = trace()\n    with found:\n        pass\n"
    )

    with pytest.raises(WithBlockNotFoundError):
        executed(tmp_path, text)["f"]()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has lines only")
def test_without_columns_an_early_capture_finds_nothing(tmp_path):
    """Python run with `-X no_debug_ranges` does not tell what is in a header."""
    names = executed(
        tmp_path,
        "def trace():\n    tracer = Tracer()\n    tracer.capture()\n    return tracer\n"
        "def f():\n    with trace():\n        pass\n",
    )
    code = names["f"].__code__
    names["f"].__code__ = code.replace(co_linetable=b"\xe8\x00" * (len(code.co_code) // 2))

    with pytest.raises(WithBlockNotFoundError):
        names["f"]()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 takes nothing from bytecode")
def test_a_target_that_only_text_can_store_is_refused_without_text():
    """A block from bytecode that begins with `try` has no text for a target that is no name."""
    names = {"Tracer": Tracer, "table": {}}
    text = "with Tracer() as table['x']:\n    try:\n        a = 1\n    finally:\n        b = 2\n"

    with pytest.raises(SourceNotAvailable, match="target"):
        exec(text, names)


def test_the_rank_of_an_enter_decides_where_positions_do_not(tmp_path, monkeypatch):
    """Without the end of the expression, the order of the enters tells the item."""
    monkeypatch.setattr(locate.Place, "before", None)

    names = executed(tmp_path, "with Tracer() as a, Tracer() as b:\n    x = save([a, b])\n")

    assert len(set(map(id, names["x"]))) == 2


def test_a_large_block_on_one_line_of_items_is_captured(tmp_path):
    """Jumps too long for one instruction's argument change nothing."""
    body = "".join(f"    v{number} = [{number}]\n" for number in range(400))

    names = executed(tmp_path, f"with Tracer() as a, Tracer() as b:\n{body}    save(v399)\n")

    assert names["v399"] == [399]


def test_a_block_in_a_class_in_a_class_in_a_function_reads_the_function(tmp_path):
    """A free variable of a class body is found in the function around it, through any class in between."""
    text = (
        "def f(value):\n    class Outer:\n        class Inner:\n            with Tracer():\n"
        "                found = save([value, missing if 0 else 1])\n    missing = 2\n    return Outer.Inner.found\n"
    )

    assert executed(tmp_path, text)["f"](5) == [5, 1]


def test_a_block_in_a_class_finds_its_function_behind_whoever_builds_classes(tmp_path, monkeypatch):
    """A checker of types may put a function of its own between a function and the classes in it."""
    build = builtins.__build_class__
    monkeypatch.setattr(builtins, "__build_class__", lambda *given, **options: build(*given, **options))
    text = (
        "def f(value):\n    class C:\n        with Tracer():\n            found = save([value])\n    return C.found\n"
    )

    assert executed(tmp_path, text)["f"](5) == [5]


class Polite(Tracer):
    """Enters and leaves by coroutines, and captures early where it is told to."""

    def __init__(self, early):
        super().__init__()
        self.early = early

    async def __aenter__(self):
        await asyncio.sleep(0)
        if self.early:
            self.capture()
        return await super().__aenter__()

    async def __aexit__(self, *error):
        return await super().__aexit__(*error)


@pytest.mark.parametrize("early", [False, True], ids=["at its enter", "before"])
def test_the_enter_of_a_subclass_can_be_a_coroutine(early):
    """The `async with` that awaits it is found, each time."""

    async def rounds():
        found = []
        for number in range(3):
            async with Polite(early):
                kept = save([number])
            found.append(kept)
        return found

    assert asyncio.run(rounds()) == [[0], [1], [2]]


def test_an_enumeration_can_hold_a_block_with_methods(tmp_path):
    """What waits for the class is no member of an enumeration."""
    text = (
        "class Colour(enum.Enum):\n    RED = 1\n    with Tracer():\n        def name_of(self):\n"
        "            return __class__.__name__\n        save(name_of)\n"
    )

    colour = executed(tmp_path, text, enum=enum)["Colour"]
    waiting = scope.ClassCell(CellType())

    assert waiting.__get__(colour) is waiting._cell
    assert list(colour) == [colour.RED]
    assert colour.RED.name_of() == "Colour"


def test_a_private_variable_of_a_method_is_bound(tmp_path):
    """`__x` in a method is the class's private name, in the block as well."""
    text = (
        "class _Case:\n    def method(self):\n        with Tracer():\n            __x = save([1])\n        return __x\n"
        "class __:\n    def method(self):\n        with Tracer():\n            __x = save([2])\n        return __x\n"
    )
    names = executed(tmp_path, text)

    assert (names["_Case"]().method(), names["__"]().method()) == ([1], [2])


def test_a_generator_and_a_coroutine_defined_in_a_block_keep_their_words(tmp_path):
    """`yield`, `return` and `await` in functions of the block are their own affair."""
    text = (
        "async def f():\n    async with Tracer():\n        def g():\n            yield 1\n            return\n"
        "        async def h():\n            return [x async for x in i()]\n        async def i():\n            yield 2\n"
        "        found = list(g())\n        async for x in i():\n            found.append(x)\n"
        "        found += await h()\n        save(found)\n    return found\n"
    )

    assert asyncio.run(executed(tmp_path, text)["f"]()) == [1, 2, 2]


def test_an_error_in_the_target_of_an_async_with_goes_through():
    """An error of the header of `async with` is not ours to change."""

    class Strict:
        __slots__ = ()

    strict = Strict()

    async def main():
        async with Tracer() as strict.name:
            raise AssertionError("the block ran")

    with pytest.raises(AttributeError):
        asyncio.run(main())


def test_the_info_of_a_running_tracer_travels_as_a_place():
    """A pickled `info` has the place of the frame, and no code."""
    sent = []

    class Send(InPlaceBackend):
        def __call__(self, tracer):
            sent.append(pickle.loads(pickle.dumps(tracer.info)))

    with Tracer(Send()):
        unused = 1

    assert sent[0].frame.co_name == "test_the_info_of_a_running_tracer_travels_as_a_place"
    assert sent[0].code is None
    assert "unused" not in locals()


def test_a_tracer_is_free_again_after_it_was_refused(monkeypatch):
    """A block that cannot be held back leaves its tracer as it was."""
    ready = [False]

    def block(tracer):
        with tracer:
            kept = save([1])
        return kept

    def arm(frame, offset, signal):
        if not ready[0]:
            raise TraceSuspended
        return way.arm(frame, offset, signal)

    block(Tracer())
    site = next(site for (code, _), site in SITES.items() if code == id(block.__code__))
    way = site.way
    monkeypatch.setattr(site, "way", way._replace(arm=arm))
    tracer = Tracer()
    with pytest.raises(TraceSuspended):
        block(tracer)
    ready[0] = True

    assert block(tracer) == [1]

"""`with Tracer():`: what becomes of the block."""

import asyncio
import contextlib
import gc
import pickle
import sys
import weakref

import pytest

from tracer_core import (
    ExitTracingException,
    InPlaceBackend,
    SaveOutsideTrace,
    Tracer,
    TracerError,
    WithBlockNotFoundError,
    save,
)
from tracer_core import save as keep


class Idle:
    """A backend that does not run the block."""

    def __call__(self, tracer):
        self.tracer = tracer


class Everything(Tracer):
    """A tracer that hands back all names, as an inner trace does."""

    def write_back(self):
        """Bind what the block bound."""
        if self.block.frame is not None:
            from tracer_core import frames

            frames.write_locals(self.block.frame, self.block.bound())


# What comes back


def test_only_saved_names_come_back():
    """The outermost trace gives back what was saved, and nothing else."""
    kept = lost = None
    with Tracer():
        kept = save([1])
        lost = [2]

    assert (kept, lost) == ([1], None)


def test_a_name_saved_later_comes_back():
    """It is the object that is saved, whenever the name was bound to it."""
    with Tracer():
        kept = [1]
        save(kept)

    assert kept == [1]


def test_save_as_a_method_works_for_every_type():
    """`value.save()` in a block saves a value whose type has no `save`."""
    with Tracer():
        kept = [1].save()
        number = (2 + 3).save()
        nothing = None.save()

    assert (kept, number, nothing) == ([1], 5, None)


def test_a_type_keeps_its_own_save():
    """`value.save()` calls the value's own method where it has one."""

    class Document:
        def save(self):
            return "written"

    with Tracer():
        answer = [Document().save()]
        save(answer)

    assert answer == ["written"]


def test_an_equal_stranger_does_not_come_back():
    """A name bound to the same number, without a save, is none of those that come back."""
    saved = stranger = 0
    with Tracer():
        saved = save(3)
        stranger = 3

    assert (saved, stranger) == (3, 0)


@pytest.mark.parametrize("value", [None, True, 7, "text", (), (1, 2)], ids=repr)
def test_values_that_python_shares_come_back_by_their_name(value):
    """None, numbers and other shared values come back under the name they were saved by."""
    kept = Ellipsis
    with Tracer():
        kept = save(value)

    assert kept is value


def test_save_may_have_another_name():
    """A name that `save` was imported or bound as saves by name, as `save` does."""
    from tracer_core import save as bound

    first = second = third = stranger = 0
    with Tracer():
        from tracer_core import save as imported

        first, second = keep(3000), bound(4000)
        third = 5000
        imported(third)
        stranger = 3000

    assert (first, second, third, stranger) == (3000, 4000, 5000, 0)


def test_unpacked_names_come_back():
    """All names that are unpacked from a saved value come back."""
    with Tracer():
        first, *rest = save(iter([1, 2, 3]).__reduce__()[1][0])

    assert (first, rest) == (1, [2, 3])


def test_names_saved_side_by_side_come_back():
    """`a, b = save(1), save(2)` saves both names, and only these."""
    other = 0
    with Tracer():
        first, second = save(1), save(2)
        other = 1

    assert (first, second, other) == (1, 2, 0)


def test_a_walrus_can_save():
    """A name bound inside an expression comes back."""
    with Tracer():
        [kept := save(4)]

    assert kept == 4


def test_save_can_copy():
    """`save(value, copy=True)` saves a copy that later changes do not reach."""
    with Tracer():
        values = [1]
        kept = save(values, copy=True)
        values.append(2)

    assert kept == [1]


def test_what_was_saved_before_an_error_comes_back():
    """A block that raises gives back what it had saved so far."""
    kept = None
    with pytest.raises(ZeroDivisionError), Tracer():
        kept = save([1])
        1 / 0  # raises

    assert kept == [1]


def test_saving_outside_of_a_trace_is_an_error():
    """`save` with no trace running says so."""
    with pytest.raises(SaveOutsideTrace, match="inside the block"):
        save(1)


def test_an_inner_trace_gives_all_its_names_to_the_block_around_it():
    """What an inner block binds, the outer block sees."""
    with Tracer():
        with Tracer():
            inner = 1
        kept = save([inner + 1])

    assert kept == [2]


def test_an_inner_block_that_runs_late_still_binds_the_names_of_the_outer():
    """A block inside a block shares its cells, so it may run when the outer block has ended."""
    idle = Idle()

    class Late(Tracer):
        def execute(self, code=None):
            self.block.run()
            idle.tracer.block.run()
            self.write_back()

    with Late(), Tracer(idle):
        kept = save([5])

    assert kept == [5]


def test_an_inner_trace_in_another_function_gives_back_everything():
    """A function called from a block traces as an inner trace: all names come back to it."""

    def inner():
        with Tracer():
            value = 5
        return value

    with Tracer():
        kept = save([inner()])

    assert kept == [5]


# What runs


def test_a_backend_that_does_nothing_leaves_no_effect():
    """Nothing of the block runs by itself."""
    log = []
    with Tracer(Idle()):
        log.append(1)
        name = save([2])

    assert log == []
    assert "name" not in locals()


def test_a_block_can_run_after_its_with_statement():
    """The block works on its own cells when the caller's frame is long gone."""
    idle = Idle()
    start = 3
    with Tracer(idle) as tracer:
        result = [start]

    tracer.block.run()

    assert tracer.block.bound() == {"result": [3]}
    assert tracer.block.frame is None


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_block_can_run_again(times):
    """Each run goes on from where the names are."""
    count = 0
    with Tracer(Idle()) as tracer:
        count += 1

    for _ in range(times):
        tracer.block.run()

    assert tracer.block.bound() == {"count": times}


def test_a_block_of_pass_reaches_the_backend():
    """A block with nothing in it runs harmlessly, and the backend is called."""
    idle = Idle()
    with Tracer(idle) as tracer:
        pass

    assert idle.tracer is tracer


def test_a_block_of_constants_reaches_the_backend():
    """So does one of constants."""
    idle = Idle()
    with Tracer(idle) as tracer:
        """Nothing."""

    assert idle.tracer is tracer


# fmt: off
def test_a_block_on_the_header_line_is_skipped():
    """A block on the line of its `with` is no exception."""
    log = []
    with Tracer(Idle()): log.append(1)  # noqa: E701 - a block inside a line

    assert log == []
# fmt: on


def test_a_block_that_begins_with_try_is_skipped():
    """`try` as the first statement neither runs nor catches the signal."""
    log = []
    with Tracer(Idle()) as tracer:
        try:
            log.append(1)
        except BaseException:
            log.append(2)
        finally:
            log.append(3)

    assert log == []
    assert isinstance(tracer, Tracer)


def test_the_target_of_a_block_that_begins_with_try_can_be_anything():
    """The `as` target is stored although the block is left before Python does it."""

    class Holder:
        pass

    holder, table = Holder(), {}
    with Tracer(Idle()) as holder.tracer:
        try:
            1 / 0  # does not run
        finally:
            pass
    with Tracer(Idle()) as table["tracer"]:
        try:
            1 / 0  # does not run
        finally:
            pass

    assert isinstance(holder.tracer, Tracer)
    assert isinstance(table["tracer"], Tracer)


def test_the_other_managers_of_a_header_are_entered_and_left():
    """Managers after the tracer are part of its block; those before it are not."""
    log = []

    @contextlib.contextmanager
    def note(name):
        log.append(f"+{name}")
        yield name
        log.append(f"-{name}")

    with note("before"), Tracer() as tracer, note("after") as after:
        log.append("block")
        kept = save([after])

    assert log == ["+before", "+after", "block", "-after", "-before"]
    assert kept == ["after"]
    assert isinstance(tracer, Tracer)


def test_two_tracers_in_one_header_nest():
    """The second tracer's block is inside the first's."""
    with Tracer() as outer, Tracer() as inner:
        kept = save([outer, inner])

    assert kept[0] is outer
    assert isinstance(kept[1], Tracer)
    assert kept[1] is not outer


def test_a_header_over_several_lines_binds_its_target():
    """The block of a long header is left after the target is bound."""
    log = []
    with (
        Tracer(
            Idle(),
        ) as tracer,
        contextlib.nullcontext(log) as entered,
    ):
        log.append(entered)

    assert log == []
    assert isinstance(tracer, Tracer)


def test_a_loop_of_traces_runs_each():
    """A site is captured once and runs each time."""
    found = []
    for number in range(5):
        with Tracer():
            value = save([number])
        found.append(value)

    assert found == [[0], [1], [2], [3], [4]]


# Scope


def test_the_block_reads_what_the_caller_sees():
    """Locals, free variables and globals are read as they are when the block runs."""
    outer = 1

    def inner(argument):
        with Tracer():
            found = save([outer, argument, len])
        return found

    assert inner(2) == [1, 2, len]


def test_closures_made_in_a_block_bind_late():
    """A function made in a block sees later changes of its variables."""
    with Tracer():
        value = 1
        read = save(lambda: value)
        value = 2
        seen = save([read()])

    assert seen == [2]


def test_a_global_declared_in_the_function_is_bound():
    """`global` around the block holds inside it."""

    def change():
        global _changed
        with Tracer():
            _changed = 5

    change()

    assert _changed == 5


def test_a_nonlocal_declared_in_the_function_is_bound():
    """`nonlocal` around the block holds inside it."""
    value = 1

    def change():
        nonlocal value
        with Tracer():
            value = save([2])

    change()

    assert value == [2]


def test_private_names_and_super_mean_the_class():
    """`self.__x`, `super()` and `__class__` are those of the method's class."""

    class Base:
        def name(self):
            return "base"

    class Child(Base):
        def __init__(self):
            self.__secret = 4

        def name(self):
            with Tracer():
                found = save([self.__secret, super().name(), __class__])
            return found

    assert Child().name() == [4, "base", Child]


def test_super_works_where_self_is_rebound():
    """`super()` takes the first argument even where the block binds its name."""

    class Base:
        def name(self):
            return "base"

    class Child(Base):
        def name(self):
            with Tracer():
                found = save([super().name()])
                self = None
                save(self)
            return found, self

    assert Child().name() == (["base"], None)


def test_a_class_body_can_hold_a_block():
    """A block in a class body reads and binds the names of the class."""
    outside = 1

    class Made:
        first = 2
        with Tracer():
            second = save([first + outside])
            lost = 3

    assert Made.second == [3]
    assert not hasattr(Made, "lost")


def test_methods_made_in_a_block_of_a_class_body_know_their_class():
    """`super()` works in a method that a block in the class body defines."""

    class Base:
        def name(self):
            return "base"

    class Made(Base):
        with Tracer():

            def name(self):
                return super().name() + "!"

            save(name)

    assert Made().name() == "base!"
    assert Made.name.__qualname__.endswith("Made.name")
    assert [name for name in vars(Made) if name.startswith(".")] == []


def test_a_generator_can_hold_a_block():
    """A block in a generator runs, and the generator goes on."""

    def numbers():
        for number in range(3):
            with Tracer():
                value = save([number])
            yield value

    assert list(numbers()) == [[0], [1], [2]]


def test_executed_code_with_its_own_locals_can_hold_a_block(tmp_path):
    """`exec` with separate locals reads and binds these."""
    file = tmp_path / "executed.py"
    file.write_text("with Tracer():\n    found = save([start])\n    def made(): return found\n    save(made)\n")
    names = {"start": 1}

    exec(compile(file.read_text(), str(file), "exec"), {"Tracer": Tracer, "save": save}, names)

    assert names["found"] == [1]
    assert names["made"].__qualname__ == "made"


def test_a_module_can_hold_a_block(tmp_path):
    """At module level the names are globals; what the block does not save does not stay."""
    file = tmp_path / "module.py"
    file.write_text(
        "with Tracer():\n    found: list = save([1])\n    lost = 2\n    def made(): return found\n    save(made)\n"
    )
    names = {"Tracer": Tracer, "save": save}

    exec(compile(file.read_text(), str(file), "exec"), names)

    assert names["made"]() == [1]
    assert names["made"].__qualname__ == "made"
    assert "lost" not in names


def test_a_function_with_a_variable_of_its_own_name_can_hold_a_block():
    """The name that the block's function is given does not get in the way of the variable."""

    def named():
        named = 1
        with Tracer():
            named = save([named])
        return named

    assert named() == [1]


def test_an_async_with_awaits_in_its_block():
    """The block of `async with` may await; the statement waits for it."""

    async def main():
        log = []
        async with Tracer() as tracer:
            await asyncio.sleep(0)
            log.append(1)
            kept = save([tracer])
            async with Tracer():
                inner = 3
                await asyncio.sleep(0)
            log.append(inner)
        return log, kept, tracer

    log, kept, tracer = asyncio.run(main())

    assert (log, kept) == ([1, 3], [tracer])


def test_an_async_block_that_is_not_run_leaves_no_effect():
    """A backend may leave the block of `async with` alone."""

    async def main():
        log = []
        async with Tracer(Idle()):
            log.append(1)
        return log

    assert asyncio.run(main()) == []


def test_an_error_in_an_async_block_comes_out():
    """What the block of `async with` raises leaves the statement, without our lines."""

    async def main():
        async with Tracer():
            await asyncio.sleep(0)
            raise KeyError("in the block")

    with pytest.raises(KeyError) as caught:
        asyncio.run(main())

    assert [entry.name for entry in caught.traceback][-1] == "main"


# Errors


def test_an_error_shows_the_user_lines_only():
    """The traceback of an error in a block ends at the user's line and has none of ours."""

    def fail():
        with Tracer():
            len(5)

    with pytest.raises(TypeError) as caught:
        fail()

    names = [entry.name for entry in caught.traceback]
    assert names == [
        "test_an_error_shows_the_user_lines_only",
        "fail",
        *([] if sys.version_info >= (3, 11) else ["__exit__"]),
        "fail",
    ]


def test_the_block_does_not_see_the_signal():
    """Inside the block no exception is being handled, and an error has no context that is ours."""
    with pytest.raises(ValueError, match="mine") as caught, Tracer():
        seen = save([sys.exc_info()])
        raise ValueError("mine")

    assert seen == [(None, None, None)]
    assert caught.value.__context__ is None


def test_an_error_being_handled_around_the_block_is_seen_in_it():
    """In an `except` clause, the block sees the error that is being handled."""
    try:
        raise KeyError("outer")
    except KeyError as error:
        outer = error
        with Tracer():
            seen = save([sys.exc_info()[1]])
        after = sys.exc_info()[1]

    assert seen == [outer]
    assert after is outer


def test_an_error_in_the_target_goes_through():
    """An error of the header itself is not ours to change, and leaves nothing armed."""

    class Strict:
        __slots__ = ()

    strict = Strict()
    log = []
    with pytest.raises(AttributeError), Tracer() as strict.name:
        log.append(1)

    assert log == []


def test_a_tracer_by_hand_is_refused():
    """`__enter__` without a `with` says so."""
    with pytest.raises(WithBlockNotFoundError, match="no `with` statement"):
        Tracer().__enter__()


def test_an_exit_stack_is_refused():
    """A tracer entered by `ExitStack` has no block; the error says what entered it."""
    with contextlib.ExitStack() as stack, pytest.raises(WithBlockNotFoundError, match="ExitStack"):
        stack.enter_context(Tracer())


def test_a_generator_manager_is_refused():
    """A `with` inside a `@contextmanager` function holds no block but its `yield`."""

    @contextlib.contextmanager
    def wrapped():
        with Tracer():
            yield

    with pytest.raises(SyntaxError, match="yield"), wrapped():
        pass


def test_a_tracer_cannot_be_entered_while_it_runs():
    """One tracer runs one block at a time."""
    tracer = Tracer()
    with pytest.raises(TracerError), tracer, tracer:
        kept = save([1])

    assert "kept" not in locals()


def test_a_tracer_can_be_entered_again():
    """After its block has run, a tracer may take another."""
    tracer = Tracer()
    with tracer:
        first = save([1])
    with tracer:
        second = save([2])

    assert (first, second) == ([1], [2])


# Capture


def test_capture_in_the_header_finds_the_block_early():
    """A function in the `with` line may capture before the statement is entered, and once more does nothing."""

    def trace():
        tracer = Tracer()
        tracer.capture()
        found.append(tracer.block)
        return tracer

    found = []
    with trace() as tracer:
        kept = save([1])

    assert kept == [1]
    assert found == [tracer.block]


def test_capture_without_a_with_is_refused():
    """A function that captures tells a call in a `with` line from any other."""

    def trace():
        tracer = Tracer()
        tracer.capture()
        return tracer

    with pytest.raises(WithBlockNotFoundError):
        trace()


def test_info_and_node_describe_the_block():
    """`info` has the frame and the code, `node` the statement."""
    seen = []

    class Look(InPlaceBackend):
        def __call__(self, tracer):
            seen.append(tracer.info.frame)
            tracer.execute(tracer.info.code)

    tracer = Tracer(Look())
    assert tracer.info is None
    assert tracer.node is None
    with tracer:
        kept = save([1])

    assert kept == [1]
    assert seen == [sys._getframe()]
    assert tracer.info.code is tracer.block.code
    assert len(tracer.node.body) == 1


def test_an_inherited_enter_finds_the_block():
    """A subclass may wrap `__enter__` and `__exit__`."""

    class Wrapped(Tracer):
        def __enter__(self):
            return super().__enter__()

        def __exit__(self, *error):
            return super().__exit__(*error)

    for _ in range(2):
        with Wrapped() as tracer:
            kept = save([1])

    assert kept == [1]
    assert isinstance(tracer, Wrapped)


def test_a_subclass_can_change_the_syntax_tree():
    """A subclass that overrides `build` runs what it builds."""
    import ast

    class Doubled(Tracer):
        def build(self, node):
            module = super().build(node)
            for constant in ast.walk(module):
                if isinstance(constant, ast.Constant) and constant.value == 3:
                    constant.value = 6
            return module

    with Doubled():
        kept = save([3])

    assert kept == [6]


def test_a_subclass_can_use_every_step():
    """The steps of the base class, called by a subclass, make the block."""
    used = []

    class Steps(Tracer):
        @staticmethod
        def source(filename):
            used.append("source")
            return Tracer.source(filename)

        def parse(self, source, lineno):
            used.append("parse")
            return super().parse(source, lineno)

        def build(self, node):
            used.append("build")
            return super().build(node)

        def compile(self, module, frame):
            used.append("compile")
            return super().compile(module, frame)

    with Steps():
        kept = save([1])

    assert kept == [1]
    assert used == ["source", "parse", "build", "compile"]


def test_a_tracer_travels_without_its_frame_and_backend():
    """A pickled tracer says where it was, and takes the default backend."""
    with Tracer(Idle()) as tracer:
        kept = 1
    tracer.note = "kept"

    copy = pickle.loads(pickle.dumps(tracer))

    assert copy.note == "kept"
    assert copy.info.code is None
    assert isinstance(copy.backend, InPlaceBackend)


# Memory


def test_nothing_outlives_its_block():
    """With the collector off, the caller's objects and the tracer die when the caller returns, also after an error."""

    class Thing:
        pass

    def caller(fail):
        thing = Thing()
        refs.append(weakref.ref(thing))
        with Tracer() as tracer:
            inner = Thing()
            refs.append(weakref.ref(inner))
            refs.append(weakref.ref(tracer))
            if fail:
                raise KeyError

    refs = []
    gc.disable()
    try:
        caller(False)
        with contextlib.suppress(KeyError):
            caller(True)
        alive = [ref() for ref in refs if ref() is not None]
    finally:
        gc.enable()

    assert alive == []


def test_the_signal_is_never_seen():
    """The signal is an exception of its own kind, which only `__exit__` meets."""
    seen = []
    try:
        with Tracer(Idle()):
            seen.append(1)
    except ExitTracingException as signal:  # pragma: no cover
        seen.append(signal)

    assert seen == []


def test_a_block_that_reads_an_unpacked_target_can_run_again():
    """A name that is part of a target is not the tracer."""
    tracers = []

    class Pair(Tracer):
        def __enter__(self):
            tracers.append(super().__enter__())
            return "one", "two"

    with Pair(Idle()) as (first, second):
        found = [first, second]

    tracers[0].block.run()

    assert tracers[0].block.bound() == {"found": ["one", "two"]}


def test_a_block_that_reads_its_tracer_can_run_again():
    """The block lets go of its tracer at the end, and finds it again when it runs."""
    with Tracer(Idle()) as tracer:
        found = [tracer]

    tracer.block.run()

    assert tracer.block.bound() == {"found": [tracer]}


def test_execute_can_run_other_code():
    """`execute` takes code with the same free variables."""
    changed = []

    class Replacing(InPlaceBackend):
        def __call__(self, tracer):
            code = tracer.info.code
            tracer.execute(code.replace(co_consts=tuple(7 if value == 3000 else value for value in code.co_consts)))

    with Tracer(Replacing()):
        changed = save([3000])

    assert changed == [7]


def test_the_steps_of_a_capture_work_on_their_own():
    """A block of a text is compiled for `exec`, under the name of the frame and with its file."""
    tracer = Tracer()
    node = tracer.parse("with A():\n    y = base + 5\n    base = 99\n", 1)
    code = tracer.compile(tracer.build(node), sys._getframe())
    names = {"base": 10}
    exec(code, {}, names)

    assert (names, code.co_name) == ({"base": 99, "y": 15}, "test_the_steps_of_a_capture_work_on_their_own")

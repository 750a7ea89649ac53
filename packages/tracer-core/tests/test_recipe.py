"""A block as text, and what it takes to run it again: `tracer.block(...)`."""

import asyncio
import linecache
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tracer_core import ExecutorBackend, SourceNotAvailable, Tracer, save
from tracer_core import save as keep


def never(tracer):
    """A backend that leaves the block for later."""


def test_a_block_is_called_with_other_values():
    """A call gives the block other values and returns what it saves."""
    x = 1
    with Tracer(never) as tracer:
        y = save(x * 2)

    assert tracer.block(x=21).y == 42


def test_a_name_not_given_has_the_callers_value():
    """A name that the call leaves out has the value it had at the `with`."""
    x, factor = 1, 10
    with Tracer(never) as tracer:
        y = save(x * factor)

    assert tracer.block(x=2).y == 20


def test_calls_leave_the_caller_alone():
    """A call changes neither the caller's names nor what the next call sees."""
    total = [1]
    count = 0
    with Tracer(never) as tracer:
        count += 1
        total = save([*total, count])

    answers = [tracer.block().total for _ in range(2)]

    assert (answers, total, count) == ([[1, 1], [1, 1]], [1], 0)


def test_only_saved_names_come_back():
    """A call returns the names that were saved and no others."""
    with Tracer(never) as tracer:
        part = 1
        a, b = save([2, 3])  # noqa: RUF059  # read from the result
        n = save(part * 1)

    assert dict(tracer.block()) == {"a": 2, "b": 3, "n": 1}


def test_an_unbound_name_does_not_come_back():
    """A name that the block has deleted is not among what it saved."""
    with Tracer(never) as tracer:
        x = save([1])
        del x

    assert dict(tracer.block()) == {}


def test_a_call_raises_what_the_block_raises():
    """An exception of the block leaves the call."""
    d = {}
    with Tracer(never) as tracer:
        save(d["missing"])

    with pytest.raises(KeyError, match="missing"):
        tracer.block()


@pytest.mark.parametrize(
    ("name", "known"),
    [pytest.param("z", "save, x", id="stranger"), pytest.param("y", "save, x", id="bound by the block first")],
)
def test_a_name_that_the_block_does_not_read_is_refused(name, known):
    """A call with a name that means nothing to the block says which names do."""
    x = 1
    with Tracer(never) as tracer:
        y = save([x])
        save(y)

    with pytest.raises(TypeError, match=f"called with {name}, but it reads no such name; it reads {known}"):
        tracer.block(**{name: 1})


def test_a_block_that_reads_nothing_says_so():
    """The error for a block without reads says that there are none."""
    with Tracer(never) as tracer:
        1 + 1  # a block that reads nothing

    with pytest.raises(TypeError, match="it reads none"):
        tracer.block(x=1)


def test_threads_may_call_at_once():
    """Calls from several threads do not meet."""
    x = 0
    meet = threading.Barrier(4)
    with Tracer(never) as tracer:
        y = x
        meet.wait()
        y = save([y])
    answers = [None] * 4

    def call(number):
        answers[number] = tracer.block(x=number).y

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [[0], [1], [2], [3]]


def test_a_call_inside_a_trace_saves_for_itself():
    """What a called block saves goes to its caller and not to the trace around the call."""
    with Tracer(never) as inner:
        y = save([1])
    with Tracer():
        answer = save([inner.block().y])
        y = 3

    assert (answer, "y" in locals()) == ([[1]], False)


GLOBAL = 2


def test_a_global_is_given_another_value():
    """A call may replace a global of the module, for the block alone."""
    with Tracer(never) as tracer:
        y = save(GLOBAL * 2)
        z = save([GLOBAL for _ in range(2)])

    assert (dict(tracer.block(GLOBAL=5)), GLOBAL) == ({"y": 10, "z": [5, 5]}, 2)


class Base:
    def value(self):
        return 1


class Child(Base):
    __hidden = 10

    def value(self):
        __own = 100
        with Tracer(never) as tracer:
            total = save(super().value() + self.__hidden + __own + len(__class__.__name__))
        return tracer


def test_a_method_keeps_its_class_and_self():
    """`super()`, `__class__` and private names in a called block mean what they mean in the method."""
    assert Child().value().block().total == 116


def test_self_may_be_replaced():
    """A call may give the block another object as the method's `self`."""
    other = Child()
    other._Child__hidden = 20

    assert Child().value().block(self=other).total == 126


def test_a_class_body_is_called_as_a_function():
    """A block in a class body can be called; nothing is bound in the class."""

    class Made:
        x = 3
        __p = 4
        with Tracer(never) as tracer:
            y = save(x + __p)  # bound two lines above, under the name of the class

    assert (Made.tracer.block(x=10).y, hasattr(Made, "y")) == (14, False)


def test_a_module_is_called(tmp_path):
    """A block at the top of a module can be called; nothing is bound in the module."""
    path = tmp_path / "program.py"
    path.write_text(
        "from tracer_core import Tracer, save\nx = 1\nwith Tracer(lambda t: None) as tracer:\n    y = save([x])\n"
    )
    names = {"__name__": "program"}
    exec(compile(path.read_text(), path, "exec"), names)

    assert (names["tracer"].block(x=3).y, "y" in names) == ([3], False)


def test_one_item_of_several_is_called():
    """Of a `with` statement with several items, a call runs what its own item guards."""
    log = []
    with Tracer(never) as tracer, memoryview(b"abc") as view:
        log.append(view[0])

    tracer.block()

    assert log == [97]


def test_an_asynchronous_block_is_called_in_a_loop_of_its_own():
    """A block of `async with` is run to its end by a call."""

    async def trace():
        x = 1
        async with Tracer(never) as tracer:
            await asyncio.sleep(0)
            y = save([x])
        return tracer

    assert asyncio.run(trace()).block(x=2).y == [2]


def test_a_block_says_what_it_reads_and_writes():
    """`reads` are the names it needs, builtins left out, and `writes` those it binds."""
    xs = [1]
    with Tracer(never) as tracer:
        n = len(xs)
        save(n)

    assert (tracer.reads, tracer.writes) == (("xs", "save"), ("n",))


def test_a_builtin_that_the_caller_replaced_is_read():
    """A name that a caller has made its own counts as read even if a builtin has it too."""
    len = list.__len__
    with Tracer(never) as tracer:
        save(len([1]))

    assert tracer.reads == ("save", "len")


def test_a_name_not_bound_yet_is_read():
    """A name that nobody has bound counts as read, and may be given."""
    with Tracer(never) as tracer:
        y = save([nowhere])  # noqa: F821  # that is the case

    assert (tracer.reads, tracer.block(nowhere=3).y) == (("save", "nowhere"), [3])


def test_the_text_is_that_of_the_statement():
    """`source_text` is the `with` statement as it stands in its file."""
    with Tracer(never) as tracer:
        x = 1

    assert tracer.source_text == "    with Tracer(never) as tracer:\n        x = 1\n"


def test_a_block_says_where_it_is():
    """`filename` and `first_line` are the file and the line of the block's first statement."""
    with Tracer(never) as tracer:
        x = 1

    block = tracer.block
    assert (block.filename, linecache.getline(block.filename, block.first_line).split("  #")[0].strip()) == (
        __file__,
        "x = 1",
    )


def test_a_recipe_pickles():
    """A recipe is plain data."""
    with Tracer(never) as tracer:
        x = 1

    assert pickle.loads(pickle.dumps(tracer.block.recipe)) == tracer.block.recipe


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 cannot take a block from bytecode")
def test_a_block_without_text_cannot_be_called():
    """A block that exists as bytecode only says that it cannot be called again."""
    names = {"Tracer": Tracer, "never": never}
    exec("with Tracer(never) as tracer:\n    x = 1\n", names)

    with pytest.raises(SourceNotAvailable, match="only its bytecode"):
        names["tracer"].block()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 cannot take a block from bytecode")
@pytest.mark.parametrize(
    "ways", [pytest.param({"wait": False}, id="on values of its own"), pytest.param({"ships": True}, id="elsewhere")]
)
def test_a_block_without_text_runs_on_the_values_it_stands_on(ways):
    """On an executor it runs on its caller's values or not at all, and the error says what there is of it."""
    with ThreadPoolExecutor(1) as pool:
        names = {"Tracer": Tracer, "save": save, "backend": ExecutorBackend(pool)}
        text = "with Tracer(backend) as tracer:\n    x = save([1])\n"
        exec(text, names)
        names["backend"] = ExecutorBackend(pool, **ways)
        with pytest.raises(SourceNotAvailable, match="neither elsewhere nor with other values"):
            exec(text, names)

    assert names["x"] == [1]


def test_a_save_of_another_name_is_one_in_every_run():
    """What `save` is called where the block was written goes with its text."""
    base = 1000
    with Tracer(never) as tracer:
        number = keep(base + 1)

    assert pickle.loads(pickle.dumps(tracer.block.recipe)).spellings == ("keep",)
    assert tracer.block(base=2000).number == 2001

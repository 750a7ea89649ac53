"""Leaving a block without disturbing whoever else listens to Python's events."""

import bdb
import contextlib
import cProfile
import sys
import threading
from types import FunctionType

import pytest

from tracer_core import Tracer, TracerError, TraceSuspended, save, skip
from tracer_core.site import SITES
from tracer_core.skip import monitoring, settrace

LISTENS_BY_MONITORING = sys.version_info >= (3, 12)

needs_opcode_events = pytest.mark.skipif(
    LISTENS_BY_MONITORING, reason="CPython 3.12 and later can lose the opcode events of a trace function"
)


def traced():
    """Trace twice: a block that begins a line, and one that does not."""
    with Tracer():
        first = save([1])
    with Tracer(): second = save([2])  # noqa: E701 - a block inside a line  # fmt: skip
    return first + second


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Every test ends with no hook of ours anywhere."""
    before = sys.gettrace(), sys.getprofile()
    yield
    assert (sys.gettrace(), sys.getprofile()) == before
    assert monitoring._armed == {}


@pytest.fixture
def by_settrace(monkeypatch):
    """Skip by trace functions, as where no tool id is free."""
    monkeypatch.setattr(monitoring, "_tool", lambda kind: None)
    SITES.clear()
    yield
    SITES.clear()


def test_a_tracer_without_a_free_tool_id_uses_trace_functions(by_settrace):
    """The block is left all the same."""
    with Tracer():
        first = save([1])

    assert first == [1]


@needs_opcode_events
def test_a_block_inside_a_line_is_left_by_a_trace_function(by_settrace):
    """So it is in a code object that no tool watches."""
    unwatched = FunctionType(traced.__code__.replace(), globals())

    assert unwatched() == [1, 2]


@pytest.mark.skipif(not LISTENS_BY_MONITORING, reason="3.12 has tool ids first")
def test_a_block_inside_a_line_is_refused_where_no_tool_id_is_free(by_settrace):
    """Nothing of it runs, and the error names its place."""
    ran = []

    with pytest.raises(TraceSuspended, match=r"test_skip\.py:\d+ .* `sys\.monitoring` .* all taken"):
        with Tracer(): ran.append(1)  # noqa: E701 - a block inside a line  # fmt: skip

    assert ran == []


@pytest.mark.skipif(not LISTENS_BY_MONITORING, reason="3.12 has tool ids first")
def test_all_tool_ids_can_be_taken(monkeypatch):
    """Where every id is taken, there is none for us."""
    monkeypatch.setattr(monitoring, "_tools", {})
    taken = [number for number in range(6) if sys.monitoring.get_tool(number) is None]
    for number in taken:
        sys.monitoring.use_tool_id(number, "test")
    try:
        assert monitoring._tool("LINE") is None
    finally:
        for number in taken:
            sys.monitoring.free_tool_id(number)


@contextlib.contextmanager
def listening(tracer, setter=sys.settrace, getter=sys.gettrace):
    """Set a trace function, or a profile function, and put back what was there."""
    before = getter()
    setter(tracer)
    try:
        yield
    finally:
        setter(before)


def observe(function):
    """Return the lines of this file that a debugger-like tracer sees while `function` runs."""
    lines = []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            lines.append(frame.f_lineno - traced.__code__.co_firstlineno)
        return trace

    with listening(trace):
        function()
    return lines


def test_a_python_tracer_sees_the_lines_after_a_block():
    """A tracer goes on where the block ends: on the line of its `with`, as in place."""
    assert [line for line in observe(traced) if line in {2, 4, 5}] == [2, 2, 4, 4, 5]


@needs_opcode_events
def test_a_python_tracer_sees_the_lines_after_a_block_left_by_trace_function(by_settrace):
    """So it does where the block is left by a trace function."""
    assert [line for line in observe(traced) if line in {2, 4, 5}] == [2, 2, 4, 4, 5]


def with_a_target_on_its_own_line():
    """Trace a block whose `as` target is on a line between the enter and the block."""
    with (
        Tracer()
        as tracer
    ):  # fmt: skip
        first = save([1])
    return first, tracer


@pytest.mark.parametrize("fixture", [None, "by_settrace"], ids=["usual", "by settrace"])
def test_a_python_tracer_sees_the_lines_on_the_way_to_a_block(fixture, request):
    """The line of the `as` target is heard, whatever hook is in place to leave the block."""
    if fixture:
        request.getfixturevalue(fixture)
    first = with_a_target_on_its_own_line.__code__.co_firstlineno - traced.__code__.co_firstlineno

    assert observe(with_a_target_on_its_own_line).count(first + 4) == 1


def waiting(tracer, local_trace):
    """Return the hook that is armed for a frame which `tracer` and `local_trace` trace, and the signal.

    Python calls the hook where no coverage can see; so it is called by hand, for a frame that stands still.
    """
    standing = (value for value in [1])
    frame = standing.gi_frame
    frame.f_trace = local_trace
    with listening(tracer):
        signal = skip.ExitTracingException()
        sys.settrace(settrace.arm_instruction(frame, frame.f_lasti + 2, signal) or sys.gettrace())
        hook = frame.f_trace
        settrace.disarm_instruction(frame, signal)
    assert (frame.f_trace, frame.f_trace_opcodes) == (local_trace, False)
    return hook, signal, frame


def test_the_hook_of_a_frame_tells_what_traced_it_before():
    """What comes before the block is told; an instruction is not, which nobody asked for."""
    heard = []

    def trace(frame, event, argument):
        heard.append(event)
        return later if event == "line" else None

    def later(frame, event, argument):
        heard.append(f"later {event}")

    hook, _, frame = waiting(lambda *event: None, trace)
    with listening(lambda *event: None):
        for event in ("exception", "line", "opcode", "line"):
            hook(frame, event, None)

    assert heard == ["exception", "line", "later line"]


def test_a_tracer_that_stops_listening_before_a_block_does_not_let_it_run():
    """A debugger told to go on takes its trace function off; the hook goes on hearing."""
    hook, signal, frame = waiting(lambda *event: None, lambda *event: sys.settrace(None))
    with listening(None):
        hook(frame, "line", None)

        assert (sys.gettrace(), signal.tracer, signal.local_trace) == (settrace._nothing, None, None)


class Foreign:
    """Looks like a tracer that is not written in Python: it is called for every event and notes the depth."""

    def __init__(self):
        self.depth = 0
        self.lowest = 0

    def __call__(self, frame, event, argument):
        self.depth += {"call": 1, "return": -1}.get(event, 0)
        self.lowest = min(self.lowest, self.depth)
        return self


def traced_on_a_line():
    """Trace one block, which begins a line."""
    with Tracer():
        result = save([1, 2])
    return result


@pytest.mark.parametrize("fixture", [None, "by_settrace"], ids=["usual", "by settrace"])
def test_a_foreign_tracer_is_put_back(fixture, request):
    """A tracer written in C is taken off and put back, and its calls and returns stay even."""
    function = traced
    if fixture:
        request.getfixturevalue(fixture)
        function = traced_on_a_line if LISTENS_BY_MONITORING else traced
    foreign = Foreign()
    with listening(foreign):
        result = function()
        left = sys.gettrace()

    assert result == [1, 2]
    assert left is foreign
    assert foreign.lowest == 0


def test_the_trace_function_of_the_frame_is_as_before():
    """A frame that is being traced has its own trace function back after a block."""
    seen = []

    def local(frame, event, argument):
        return local

    def body():
        seen.append(sys._getframe().f_trace)
        with Tracer():
            kept = save([1])
        seen.append(sys._getframe().f_trace)
        return kept

    with listening(lambda frame, event, argument: local if frame.f_code is body.__code__ else None):
        body()

    assert seen == [local, local]


def test_a_breakpoint_after_a_block_is_hit():
    """A debugger stops on a later line of the frame."""
    stops = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame):
            stops.append(frame.f_lineno)
            self.set_continue()

    debugger = Debugger()
    last = traced.__code__.co_firstlineno + 5
    debugger.set_break(__file__, last)
    with listening(None):
        debugger.runcall(traced)
    debugger.clear_all_breaks()

    assert last in stops


def test_a_profiler_is_as_before():
    """cProfile sees the calls in the block and after it."""
    profile = cProfile.Profile()

    result = profile.runcall(traced)

    assert result == [1, 2]


@pytest.mark.parametrize("fixture", [None, "by_settrace"], ids=["usual", "by settrace"])
def test_a_block_inside_a_trace_function_is_refused(fixture, request):
    """Where Python reports no events the block does not run, and the error says why."""
    if fixture:
        request.getfixturevalue(fixture)
    caught = []

    def trace(frame, event, argument):
        with pytest.raises(TraceSuspended) as error:
            traced()
        caught.append(error.value)

    def called():
        return 1

    with listening(trace):
        called()

    assert "callback" in str(caught[0])


@pytest.mark.parametrize("fixture", [None, "by_settrace"], ids=["usual", "by settrace"])
def test_a_block_inside_a_profile_function_is_refused(fixture, request):
    """A profile function is no place for a block either."""
    if fixture:
        request.getfixturevalue(fixture)
    caught = []

    def profile(frame, event, argument):
        if not caught and event == "call":
            with pytest.raises(TraceSuspended) as error:
                traced()
            caught.append(error.value)

    def called():
        return 1

    with listening(profile, sys.setprofile, sys.getprofile):
        called()

    assert len(caught) == 1


def test_a_block_that_was_not_held_back_is_reported(monkeypatch):
    """If the signal never comes, the error says that the block ran in place."""
    traced_here = []

    def block():
        with Tracer():
            traced_here.append(1)

    block()
    site = next(site for (code, _), site in SITES.items() if code == id(block.__code__))
    monkeypatch.setattr(site, "way", skip.Way(lambda frame, offset, signal: None, lambda *_: None))

    with pytest.raises(TracerError, match="ran in place"):
        block()


def test_threads_do_not_disturb_one_another():
    """Many threads trace the same lines at once."""
    results = []

    def work():
        results.extend(traced() for _ in range(200))  # other threads append between two of these

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [[1, 2]] * 800


def test_an_error_in_the_target_of_a_block_inside_a_line_leaves_nothing_armed():
    """What was armed is disarmed when the block is never reached."""

    class Strict:
        __slots__ = ()

    strict = Strict()
    with pytest.raises(AttributeError):
        with Tracer() as strict.name: pass; 1  # noqa: E701, E702  # fmt: skip


def test_a_function_with_many_names_can_hold_a_block(tmp_path):
    """More names than fit into one instruction's argument change nothing."""
    file = tmp_path / "wide.py"
    names = "".join(f"    v{number} = {number + 1000}\n" for number in range(300))
    file.write_text(
        f"def wide(Tracer, save):\n{names}    with Tracer() as v300:\n        v301 = save([v299, {'v298'}])\n"
        "    with Tracer() as v302: v303 = save([v299])\n    return v301 + v303\n"
    )
    made = {}
    exec(compile(file.read_text(), str(file), "exec"), made)

    assert made["wide"](Tracer, save) == [1299, 1298, 1299]


class Anywhere:
    """An offset that every place is at."""

    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.skipif(not LISTENS_BY_MONITORING, reason="3.12 has monitoring first")
def test_the_listener_for_lines_raises_where_it_is_armed_and_nowhere_else():
    """Python calls the listener where no coverage can see; here it is called by hand."""
    frame, signal = sys._getframe(), skip.ExitTracingException()
    code = frame.f_code

    elsewhere = monitoring._on_line(code, 1)
    monitoring._line_points[id(code)] = [Anywhere()]
    at_a_point = monitoring._on_line(code, 1)
    del monitoring._line_points[id(code)]
    monitoring._armed[frame] = Anywhere(), signal
    with pytest.raises(skip.ExitTracingException):
        monitoring._on_line(code, 1)

    assert (elsewhere, at_a_point) == (sys.monitoring.DISABLE, None)


@pytest.mark.skipif(not LISTENS_BY_MONITORING, reason="3.12 has monitoring first")
def test_the_listener_for_instructions_raises_where_it_is_armed_and_nowhere_else():
    """As for lines, with the lock given back."""
    frame, signal = sys._getframe(), skip.ExitTracingException()

    elsewhere = monitoring._on_instruction(frame.f_code, 1)
    monitoring._instruction_lock.acquire()
    monitoring._armed[frame] = 2, signal
    with pytest.raises(skip.ExitTracingException):
        monitoring._on_instruction(frame.f_code, 2)

    assert elsewhere == sys.monitoring.DISABLE


@pytest.mark.skipif(not LISTENS_BY_MONITORING, reason="3.12 has monitoring first")
def test_a_probe_is_heard_by_its_own_thread():
    """Python calls the listener where no coverage can see; here it is called by hand."""
    monitoring._on_probe(monitoring._probe.__code__, 0)
    try:
        assert threading.get_ident() in monitoring._heard
    finally:
        monitoring._heard.discard(threading.get_ident())


@pytest.mark.skipif(not LISTENS_BY_MONITORING, reason="3.12 has monitoring first")
def test_where_nothing_is_heard_the_block_is_refused(monkeypatch):
    """A probe that is not heard means that there are no events."""
    monkeypatch.setattr(monitoring, "_probe", lambda: None)

    with pytest.raises(TraceSuspended):
        monitoring.arm_line(sys._getframe(), 0, skip.ExitTracingException())


@pytest.mark.parametrize("distance", [0, 2], ids=["there", "elsewhere"])
def test_the_hook_of_a_frame_waits_for_its_place(distance):
    """Python calls the hook where no coverage can see; here it is called by hand, for a frame that stands still."""
    standing = (value for value in [1])
    frame = standing.gi_frame
    with listening(None):
        signal = skip.ExitTracingException()
        sys.settrace(settrace.arm_line(frame, frame.f_lasti + distance, signal))
        hook = frame.f_trace
        settrace.disarm_line(frame, signal)

    if distance:
        assert hook(frame, "line", None) is None  # which keeps it
    else:
        with pytest.raises(skip.ExitTracingException):
            hook(frame, "line", None)


def test_there_is_nothing_to_disarm_once_the_signal_was_raised():
    """The raise has taken the hooks away, and what stands there now is somebody else's."""
    standing = (value for value in [1])
    signal = skip.ExitTracingException()
    with pytest.raises(skip.ExitTracingException):
        raise signal
    standing.gi_frame.f_trace = later = lambda *event: None

    settrace.disarm_instruction(standing.gi_frame, signal)

    assert standing.gi_frame.f_trace is later


def test_where_a_tracer_hears_nothing_the_block_is_refused(monkeypatch):
    """The probe of the way by trace functions is heard, or there are no events."""
    monkeypatch.setattr(settrace, "_is_suspended", lambda tracer: True)

    with listening(lambda *event: None), pytest.raises(TraceSuspended):
        settrace.arm_line(sys._getframe(), 0, skip.ExitTracingException())


def test_the_ids_of_a_debugger_coverage_and_a_profiler_are_left_to_them():
    """These tools take one fixed id, and fail where somebody else has it."""
    assert not {0, 1, 2}.intersection(monitoring._IDS)

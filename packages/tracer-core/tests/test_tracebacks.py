"""The lines that are left in a traceback."""

import sys

import pytest

from tracer_core import tracebacks


@pytest.fixture
def hidden(tmp_path, monkeypatch):
    """Return a folder that is hidden during the test."""
    monkeypatch.setattr(tracebacks, "_hidden", tracebacks._hidden)
    tracebacks.hide(tmp_path)
    tracebacks.hide(tmp_path)
    return tmp_path


def test_the_frames_of_a_hidden_folder_are_dropped(hidden):
    """The entries on both sides of a hidden frame meet."""
    names = {}
    exec(compile("def through(call):\n    call()\n", str(hidden / "library.py"), "exec"), names)

    def fail():
        raise KeyError

    try:
        names["through"](fail)
    except KeyError as error:
        entry = tracebacks.visible(error.__traceback__)
    found = []
    while entry is not None:
        found.append(entry.tb_frame.f_code.co_name)
        entry = entry.tb_next

    assert found == ["test_the_frames_of_a_hidden_folder_are_dropped", "fail"]


def test_a_folder_is_hidden_with_all_that_is_in_it(hidden):
    """A file beside the folder, with a name that begins the same way, is not."""
    assert tracebacks.is_hidden(str(hidden / "deep" / "file.py"))
    assert not tracebacks.is_hidden(f"{hidden}_other.py")


def test_no_traceback_stays_none():
    """An error without a traceback has no entries to drop."""
    assert tracebacks.visible(None) is None


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="3.10 goes on with the first entry")
def test_the_first_entry_stays_on_3_10(hidden):
    """On 3.10 a bare `raise` keeps the first entry whatever it is."""
    names = {}
    exec(
        compile(
            "def fail():\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n        return error\n",
            str(hidden / "x.py"),
            "exec",
        ),
        names,
    )
    error = names["fail"]()

    assert tracebacks.visible(error.__traceback__) is error.__traceback__

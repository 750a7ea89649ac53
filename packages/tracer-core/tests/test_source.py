"""The text of a block, wherever the code around it comes from."""

import doctest
import linecache
import os
import subprocess
import sys
import zipfile

import pytest

from tracer_core import SourceNotAvailable, StaleSource, Tracer, save
from tracer_core.source import SourceCache, command_line, split, text

PROGRAM = """\
from tracer_core import Tracer, save
start = 1
with Tracer() as tracer:
    kept = (start + 1).save()
    lost = 3
assert "lost" not in globals()
print(kept, tracer.node is not None)
"""
CARVED = PROGRAM.replace("(start + 1).save()", "save(start + 1)")
needs_carving = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no bytecode fallback")


def run(*arguments, **options):
    """Return what a Python that is given `arguments` prints."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["-c", PROGRAM],
        ["-Bc", PROGRAM],
        ["-c" + PROGRAM],
        ["-X", "utf8", "-W", "error", "-c", PROGRAM, "-c", "argument"],
    ],
    ids=["-c", "-Bc", "joined", "after options"],
)
def test_a_program_on_the_command_line_is_found(options):
    """`python -c` has its text in every spelling."""
    assert run(*options) == "2 True\n"


def test_a_program_on_standard_input_is_found_in_its_file(tmp_path):
    """`python < file` reads the file once more."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)

    with file.open() as stdin:
        assert run(stdin=stdin) == "2 True\n"


@needs_carving
def test_a_program_from_a_pipe_runs_from_its_bytecode():
    """A pipe cannot be read twice; the block is taken from what runs."""
    assert run(input=CARVED) == "2 False\n"


@needs_carving
def test_executed_text_runs_from_its_bytecode():
    """Text given to `exec` is nowhere to be found; the block is taken from what runs."""
    names = {}

    exec(CARVED.replace("print", "result = "), names)

    assert names["result"] == (2, False)


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="the bytecode stands in")
def test_executed_text_is_refused_without_bytecode():
    """On 3.10 executed text has no source, and the error says how to give it one."""
    with pytest.raises(SourceNotAvailable, match="linecache"):
        exec(PROGRAM, {})


def test_executed_text_in_linecache_is_found():
    """A program can register what it executes, and reuse the name for other text."""
    results = []
    for number in ("1", "2"):
        program = PROGRAM.replace("start = 1", f"start = {number}").replace("print", "result = ")
        linecache.cache["<made>"] = (len(program), None, program.splitlines(keepends=True), "<made>")
        names = {}
        exec(compile(program, "<made>", "exec"), names)
        results.append(names["result"])

    assert results == [(2, True), (3, True)]


def test_a_module_in_a_zip_file_is_found(tmp_path, monkeypatch):
    """A loader that has the text is asked for it."""
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("packed_module.py", PROGRAM.replace("print", "result = "))
    monkeypatch.syspath_prepend(str(archive))

    import packed_module

    assert packed_module.result == (2, True)


def test_a_doctest_is_found():
    """The examples of a docstring can hold blocks."""
    example = ">>> with Tracer():\n...     kept = [1].save()\n>>> kept\n[1]\n"
    test = doctest.DocTestParser().get_doctest(example, {"Tracer": Tracer}, "example", None, 0)

    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.skipif(sys.version_info < (3, 13), reason="the REPL keeps its lines since 3.13")
def test_the_lines_of_the_repl_are_found():
    """What was typed at the prompt is found."""
    typed = "from tracer_core import *\nwith Tracer() as tracer:\n    kept = [1].save()\n\nprint(kept, tracer.node is not None)\n"
    done = subprocess.run([sys.executable, "-i", "-q"], input=typed, capture_output=True, text=True, check=True)

    assert "[1] True" in done.stdout


@needs_carving
@pytest.mark.parametrize(
    ("before", "after"),
    [("a + 1", "a - 1"), ("a + 1", "a + 2"), ("a + 1", "b + 1"), ("a + 1", "max(a, 1)"), ("a + 1", "a\n        b = 3")],
    ids=["operator", "constant", "name", "call", "statement"],
)
def test_an_edited_file_runs_what_was_imported(tmp_path, before, after):
    """A file changed after its import: the block does what the running code does."""
    file = tmp_path / "edited.py"
    file.write_text(
        "def f(Tracer, save, a, b):\n    with Tracer() as t:\n        kept = save([a + 1])\n    return kept, t.node\n"
    )
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    file.write_text(file.read_text().replace(before, after))

    assert names["f"](Tracer, save, 5, 7) == ([6], None)


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="the bytecode stands in")
def test_an_edited_file_is_refused_without_bytecode(tmp_path):
    """On 3.10 a changed file is an error that shows its line."""
    file = tmp_path / "edited.py"
    file.write_text("def f(Tracer, save, a):\n    with Tracer():\n        kept = save([a + 1])\n    return kept\n")
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    file.write_text(file.read_text().replace("a + 1", "a - 1"))

    with pytest.raises(StaleSource, match="with Tracer"):
        names["f"](Tracer, save, 5)


def test_a_file_edited_and_loaded_again_runs_the_new_text(tmp_path):
    """The text is read again when what was read before is not what runs."""
    file = tmp_path / "loaded.py"
    results = []
    for number in ("1", "22"):
        file.write_text(f"with Tracer() as tracer:\n    kept = save({number})\n")
        names = {"Tracer": Tracer, "save": save}
        exec(compile(file.read_text(), str(file), "exec"), names)
        results.append((names["kept"], names["tracer"].node is not None))

    assert results == [(1, True), (22, True)]


def test_the_cache_says_what_it_read(tmp_path):
    """An entry has the lines, where they came from, the version of the file and the time."""
    file = tmp_path / "read.py"
    file.write_text("x = 1\n")
    code = compile("x = 1\n", str(file), "exec")
    cache = SourceCache()

    found = cache.find(code, {})

    assert found is not None
    assert found.lines == ["x = 1\n"]
    assert found.origin == "file"
    assert found.version == (file.stat().st_size, file.stat().st_mtime)
    assert found.read_at > 0
    assert cache.find(code, {}) is found


def test_the_cache_is_bounded_and_can_be_cleared(tmp_path):
    """The oldest entry goes first; `clear` forgets all."""
    cache = SourceCache(limit=2)
    codes = []
    for number in range(3):
        file = tmp_path / f"f{number}.py"
        file.write_text("x = 1\n")
        codes.append(compile("x = 1\n", str(file), "exec"))
    first, _, third = (cache.find(code, {}) for code in codes)

    assert cache.find(codes[2], {}) is third
    assert cache.find(codes[0], {}) is not first
    cache.clear()
    assert cache.find(codes[2], {}) is not third


def test_text_without_source_is_empty():
    """A name under which nothing can be found has no text."""
    assert text("<nowhere>") == ""
    assert SourceCache().find(compile("", "<nowhere>", "exec"), {}) is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["python", "-c", "x"], ["x\n"]),
        (["python", "-Bcx\ny"], ["x\n", "y\n"]),
        (["python", "-W", "error", "-Xdev", "-c", "x\n"], ["x\n"]),
        (["python", "--check-hash-based-pycs", "always", "-c", "x"], ["x\n"]),
        (["python", "file.py", "-c", "x"], []),
        (["python", "-m", "module", "-c", "x"], []),
        (["python", "--version"], []),
        (["python"], []),
    ],
    ids=["plain", "joined", "options", "long option", "file", "module", "other long option", "nothing"],
)
def test_the_command_line_is_read_as_python_reads_it(arguments, expected):
    """Only a `-c` that is an option of Python itself has a program."""
    assert command_line(arguments) == expected


def test_lines_are_split_as_python_splits_them():
    """A form feed ends no line; a carriage return does."""
    assert split("a\x0cb\r\nc") == ["a\x0cb\n", "c"]


def found_lines(filename, source="x = 1\n"):
    """Return the lines that a new cache finds for a file of this name."""
    cache = SourceCache()
    code = compile(source, filename, "exec")
    found = cache.find(code, {})
    assert cache.find(code, {}) is found
    return [] if found is None else found.lines


def test_the_program_of_the_command_line_is_read_once(monkeypatch):
    """`<string>` is the program after `-c`, where there is one."""
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", "y = 2"])
    assert found_lines("<string>") == ["y = 2\n"]
    assert text("<string>") == "y = 2\n"

    monkeypatch.setattr(sys, "orig_argv", ["python"])
    assert found_lines("<string>") == []


@pytest.mark.parametrize("content", ["z = 3\n", None], ids=["file", "no file"])
def test_standard_input_is_read_where_it_is_a_file(tmp_path, content):
    """What was read from a file can be read again; a pipe cannot, and none at all is no error."""
    read, write = os.pipe()
    before = os.dup(0)
    if content is None:
        os.dup2(read, 0)
    else:
        (tmp_path / "input.py").write_text(content)
        descriptor = os.open(tmp_path / "input.py", os.O_RDONLY)
        os.dup2(descriptor, 0)
        os.close(descriptor)
    try:
        lines = found_lines("<stdin>")
        os.close(0)
        without = found_lines("<stdin>")
    finally:
        os.dup2(before, 0)
        for descriptor in (before, read, write):
            os.close(descriptor)

    assert lines == ([] if content is None else [content])
    assert without == []


def test_the_lines_of_interactive_code_are_found_by_the_code(monkeypatch):
    """Where `linecache` keeps lines by code object, these are taken."""
    monkeypatch.setattr(linecache, "_getlines_from_code", lambda code: ["typed\n"], raising=False)

    cache = SourceCache()

    assert cache.find(compile("x", "<python-input-0>", "exec"), {}).origin == "repl"

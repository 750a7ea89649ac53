"""Coverage of a file that traces is that of a file that does not."""

import sys

import pytest

WAYS = [("ctrace", False), ("ctrace", True), ("pytrace", False), ("pytrace", True)]
if sys.version_info >= (3, 12):
    WAYS.append(("sysmon", False))
if sys.version_info >= (3, 14):  # before, `sys.monitoring` does not tell branches apart
    WAYS.append(("sysmon", True))
NAMES = {"ctrace": "CTracer", "pytrace": "PyTracer", "sysmon": "SysMonitor"}
DRIVER = """
    import contextlib
    import json
    import sys
    import types
    import coverage

    if {plain}:
        sys.modules["tracer_core"] = types.ModuleType("tracer_core")
        sys.modules["tracer_core"].Tracer = contextlib.nullcontext
        sys.modules["tracer_core"].save = lambda value: value
    cov = coverage.Coverage(data_file=None, config_file=False, source=["."], branch={branch})
    cov.start()
    import program
    cov.stop()

    core = next(value for key, value in cov.sys_info() if key == "core")
    cov.json_report(outfile="report.json")
    with open("report.json") as report:
        files = json.load(report)["files"]
    found = {{
        name: {{kind: entry for kind, entry in part.items() if kind.endswith(("_lines", "_branches"))}}
        for name, part in files.items()
    }}
    print(json.dumps([core, program.result, found]))
"""


@pytest.fixture(scope="module")
def plain(run):
    """What is recorded where nothing is traced, with branches and without."""
    return {branch: run(DRIVER.format(branch=branch, plain=True), COVERAGE_CORE="ctrace") for branch in (False, True)}


@pytest.mark.parametrize(("core", "branch"), WAYS)
def test_what_is_recorded_is_what_a_plain_manager_gives(run, plain, expected, core, branch):
    """With each of coverage's ways to listen: every line and branch, and none that is misfiled."""
    found = run(DRIVER.format(branch=branch, plain=False), COVERAGE_CORE=core)

    assert found == [NAMES[core], expected, plain[branch][-1]]

"""`--matrix=all` runs every case; a run without it takes a sample."""

from .cases import all_cases, sample

SAMPLE_SIZE = 600


def pytest_addoption(parser):
    """Let `pytest tests/matrix --matrix=all` ask for everything."""
    parser.addoption("--matrix", choices=("sample", "all"), default="sample", help="how many cases to run")


def pytest_generate_tests(metafunc):
    """Give a test that takes a `case` the cases asked for; in a run of all tests nobody has heard of the option."""
    if "case" in metafunc.fixturenames:
        wants_all = metafunc.config.getoption("--matrix", "sample") == "all"
        metafunc.parametrize("case", list(all_cases()) if wants_all else sample(SAMPLE_SIZE), ids=str)

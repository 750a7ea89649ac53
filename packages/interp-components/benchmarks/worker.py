"""Time one library in its own process: a JSON request per line in, a JSON answer per line out.

The library's model and a twin with the same weights stand side by side, so that each library is compared with plain
torch and with hooks of its own environment. A sample is the least CPU time of three calls after one that is not timed.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a library prints is no answer
warnings.simplefilter("ignore")

started = time.process_time()
import torch  # noqa: E402  # timed

torch_seconds = time.process_time() - started
torch.set_num_threads(1)

from adapters import adapter  # noqa: E402  # behind torch, whose import is not the library's
from cases import CASES  # noqa: E402
from shapes import prompt  # noqa: E402
from torch import Tensor  # noqa: E402

Run = Callable[[], Any]


class Bench:
    """One library on one shape at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.key: tuple[str, str] | None = None
        self.library: Any = None
        self.twin: Any = None

    def load(self, shape: str, attention: str) -> None:
        """Have both models of the shape."""
        if self.key != (shape, attention):
            self.library = self.twin = None
            gc.collect()
            self.twin = adapter("hooks")(shape, attention)
            self.library = adapter(self.name)(shape, attention)
            self.key = (shape, attention)

    def runs(self, name: str, shape: str) -> dict[str, Run] | None:
        """What is timed for a case: plain torch, hooks, the library; None where the library does not do it."""
        case = CASES[name]
        if shape == "toy" and adapter(self.name).needs_transformer:
            return None
        self.load(shape, case.attention)
        method = getattr(self.library, case.method, None)
        if method is None:
            return None
        prompts = [prompt(shape, seed) for seed in range(case.prompts)]
        plain, hooks = getattr(self.twin, case.bare), getattr(self.twin, case.method)
        return {"bare": lambda: plain(prompts), "hooks": lambda: hooks(prompts), "library": lambda: method(prompts)}

    def check(self, case: str, shape: str) -> dict[str, Any]:
        """How far the library's tensors are from those of the hooks, and what it costs in calls."""
        runs = self.runs(case, shape)
        if runs is None:
            return {"missing": True}
        found, expected = tensors(runs["library"]()), tensors(runs["hooks"]())
        if case != "empty" and [each.shape for each in found] != [each.shape for each in expected]:
            return {"error": f"other shapes: {[tuple(each.shape) for each in found][:3]}"}
        apart = [float((a.float() - b.float()).abs().max()) for a, b in zip(found, expected, strict=False)]
        bare = calls(runs["bare"])
        return {
            "apart": max(apart, default=0.0),
            **{f"{name}_calls": calls(runs[name]) - bare for name in ("hooks", "library")},
        }

    def sample(self, case: str, shape: str, turn: int) -> dict[str, Any]:
        """Microseconds of each, measured now, one after the other."""
        runs = self.runs(case, shape) or {}
        order = list(runs)[turn % 3 :] + list(runs)[: turn % 3]
        return {name: least(runs[name]) for name in order}

    def start(self, shape: str) -> dict[str, Any]:
        """What it takes to get to a first trace, and what a block that keeps nothing needs at most."""
        import transformers

        transformers.GPT2LMHeadModel  # noqa: B018  # loads it: all libraries here need it
        begun = time.process_time()
        kind = adapter(self.name)
        imported = time.process_time()
        self.twin, self.library = adapter("hooks")(shape, "sdpa"), kind(shape, "sdpa")
        prompts = [prompt(shape, 0)]
        self.twin.forward(prompts)
        plain = peak()
        first = time.process_time()
        self.library.save_one(prompts)
        done = time.process_time()
        return {
            "import": imported - begun,
            "wrap": self.library.wrapping,
            "first": done - first,
            "memory": peak() - plain,
        }


def tensors(value: Any) -> list[Tensor]:
    """All tensors in nested lists."""
    if isinstance(value, Tensor):
        return [value.detach()]
    return [tensor for each in value for tensor in tensors(each)] if isinstance(value, (list, tuple)) else []


def least(run: Run) -> float:
    """The least of three calls."""
    run()
    times = []
    for _ in range(3):
        begun = time.process_time_ns()
        run()
        times.append(time.process_time_ns() - begun)
    return min(times) / 1000


def calls(run: Run) -> int:
    """How many Python and C functions a warm call calls: the same on every machine."""
    run()
    run()
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    gc.disable()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def peak() -> float:
    """The most memory that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Answer until the input ends."""
    bench = Bench(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(bench, request.pop("do"))(**request)
        except Exception as error:  # told to who asked, who goes on with the next case
            answer = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()

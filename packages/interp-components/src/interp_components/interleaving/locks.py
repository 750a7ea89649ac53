"""One lock per root module, held for a run, so that threads which trace one model wait their turn."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from torch import nn

# Root module -> its lock; lives as long as the module, any thread may add one. Re-entrant: a block may trace again.
_locks: weakref.WeakKeyDictionary[nn.Module, Any] = weakref.WeakKeyDictionary()
_adding = threading.Lock()


def lock_of(module: nn.Module) -> Any:  # threading.RLock is a function before Python 3.13, so it is no type
    """The lock that a run over `module` holds, the same for all envoys that wrap it."""
    with _adding:
        return _locks.setdefault(module, threading.RLock())

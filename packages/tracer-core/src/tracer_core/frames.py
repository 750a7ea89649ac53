"""What is done to CPython's frames, per version: binding their variables, and the exception that they handle."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any

from tracer_core.versions import V311, V312, V313

# The variables are slots of the frame, not entries of a mapping.
CO_OPTIMIZED = 1

# Make an exception, or nothing, what `sys.exc_info()` and a bare `raise` see in the frame that runs. `forget_handled` is the
# function of C with its argument made ready, which halves what the call costs.
set_handled: Callable[[BaseException], None]
forget_handled: Callable[[], None]
if V311:
    _set_handled = ctypes.pythonapi.PyErr_SetHandledException
    _set_handled.argtypes = [ctypes.py_object]
    _set_handled.restype = None
    set_handled = _set_handled
    _forget = ctypes.pythonapi["PyErr_SetHandledException"]
    _forget.restype = None
    forget_handled = partial(_forget, ctypes.py_object.from_param(None))

else:
    _set_exc_info = ctypes.pythonapi.PyErr_SetExcInfo
    _set_exc_info.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    _set_exc_info.restype = None
    _incref = ctypes.pythonapi.Py_IncRef
    _incref.argtypes = [ctypes.py_object]
    _incref.restype = None

    def _set_handled_parts(error: BaseException) -> None:
        parts = (type(error), error, error.__traceback__)
        for part in parts:  # PyErr_SetExcInfo takes the references for itself
            if part is not None:
                _incref(part)
        _set_exc_info(*(None if part is None else id(part) for part in parts))

    set_handled = _set_handled_parts
    forget_handled = partial(_set_exc_info, None, None, None)


class _Second(str):
    """Is equal to the second of the equal names that it is compared with."""

    __hash__ = str.__hash__
    _met = False

    def __eq__(self, other: object) -> bool:
        is_same = str(self) == other
        met, self._met = self._met, self._met or is_same
        return is_same and met


if V313:

    def write_locals(frame: FrameType, names: dict[str, Any]) -> None:
        """Bind `names` in `frame`: variables of a function, cells included, or the namespace of a class or module."""
        local, code = frame.f_locals, frame.f_code
        if code.co_freevars and not names.keys().isdisjoint(
            twice := {*code.co_freevars}.intersection(code.co_varnames)
        ):
            # An inlined comprehension has a variable of the same name, which comes first and would be bound instead.
            names = {_Second(name) if name in twice else name: value for name, value in names.items()}
        local.update(names)

else:
    _locals_to_fast = ctypes.pythonapi.PyFrame_LocalsToFast
    _locals_to_fast.argtypes = [ctypes.py_object, ctypes.c_int]
    _locals_to_fast.restype = None

    def write_locals(frame: FrameType, names: dict[str, Any]) -> None:
        """Bind `names` in `frame`: variables of a function, cells included, or the namespace of a class or module."""
        frame.f_locals.update(names)
        # clear=0: a name missing from the snapshot keeps its variable; 3.12 would store None for it and warn.
        _locals_to_fast(frame, 0)


def unbind_locals(frame: FrameType, names: Iterable[str]) -> None:
    """Unbind `names` in `frame`, as far as Python can: from 3.12 on not the variables of a function."""
    is_function = frame.f_code.co_flags & CO_OPTIMIZED
    if is_function and V312:
        return
    local = frame.f_locals
    for name in names:
        local.pop(name, None)
    if is_function:
        _locals_to_fast(frame, 1)

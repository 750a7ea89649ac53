"""Why a value is not there, from `unavailable=interface_reason`; each names the way out.

A predicate looks at the instance it is asked for, on each access: a config can be changed, blocks of one model differ,
and a run can ask single layers to be eager.
"""

from __future__ import annotations

from typing import Any

# Any: a predicate asks the component that it is written for, which is defined further up.


def implementation(envoy: Any) -> str:
    """Return the name of the attention kernel that this module runs."""
    return str(envoy.config._attn_implementation)


def needs_eager(envoy: Any) -> str | None:
    """Scores and patterns are written out by the eager attention forward alone."""
    name = implementation(envoy)
    if name == "eager":
        return None
    return (
        f"read inside the eager attention forward, but this model runs {name!r}; "
        "load with attn_implementation='eager', or ask for one trace with eager=True"
    )


def needs_interface(envoy: Any) -> str | None:
    """Ask the component whether its forward goes by the attention interface."""
    reason: str | None = envoy.off_interface()
    return reason


def interface_reason(envoy: Any) -> str | None:
    """What is inside the eager function needs the interface and the eager kernel."""
    return needs_interface(envoy) or needs_eager(envoy)

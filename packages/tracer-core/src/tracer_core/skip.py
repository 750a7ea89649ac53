"""Leaving a block before anything of it runs, and giving back whatever hook was displaced.

    with Tracer() as t:     # __enter__ arms; Python stores `t` itself
        first()             # never runs: the signal is raised here

`watch(site)` prepares a site once, `arm(frame, site)` makes the next arrival at its skip point raise the returned signal, and
`disarm(frame, signal)` undoes what arming did, whether the signal was raised or not. `skip_monitoring` does this with
`sys.monitoring` (3.12 and later), `skip_settrace` with the frame's trace function.
"""

from __future__ import annotations

from tracer_core import frames

if frames.V312:
    from tracer_core.skip_monitoring import arm, disarm, watch
else:
    from tracer_core.skip_settrace import arm, disarm, watch

__all__ = ["arm", "disarm", "watch"]

"""`interp lens toy "Emma went to"`: a look inside a model from the command line.

In order: `arguments` reads what was asked for, without torch, so that `--help` and mistakes answer at once; the module
named like the command makes an `Answer` with the public functions of this package; the answer is shown as tables, as one
JSON document, or as a page.

Exit codes: 0, 1 when `interp check` found a fault, 2 when what was asked for cannot be done.
"""

from interp_components.cli.program import main

__all__ = ["main"]

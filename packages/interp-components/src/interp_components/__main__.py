"""`python -m interp_components`: the same as `interp`."""

from __future__ import annotations

import sys

from interp_components.cli import main

sys.exit(main())

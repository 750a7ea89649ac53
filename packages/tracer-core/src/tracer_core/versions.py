"""Which CPython runs: facts about it differ, and each is asked for by the version that brought it."""

import sys

V311 = sys.version_info >= (3, 11)
V312 = sys.version_info >= (3, 12)
V313 = sys.version_info >= (3, 13)
V314 = sys.version_info >= (3, 14)
V315 = sys.version_info >= (3, 15)

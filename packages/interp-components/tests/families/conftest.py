"""Gives each test of the contract the values that its family has."""

from __future__ import annotations

import pytest

from .subject import FamilySubject


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `present`, or `under_sdpa`, once per value that its family has."""
    family = metafunc.cls
    if family is None or not issubclass(family, FamilySubject):
        return
    if "present" in metafunc.fixturenames:
        metafunc.parametrize("present", family.present())
    if "under_sdpa" in metafunc.fixturenames:
        metafunc.parametrize("under_sdpa", family.present() if family.has_sdpa else [])

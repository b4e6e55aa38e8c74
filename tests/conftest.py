"""Settings shared by all tests."""

from __future__ import annotations

import os

import hypothesis
import pytest

# Deadlines measure the machine's load, not the code.
hypothesis.settings.register_profile("project", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("project")


@pytest.fixture(autouse=True, scope="session")
def _no_progress_bars():
    before = os.environ.get("BORING_PROGRESS")
    os.environ["BORING_PROGRESS"] = "0"
    yield
    if before is None:
        del os.environ["BORING_PROGRESS"]
    else:
        os.environ["BORING_PROGRESS"] = before

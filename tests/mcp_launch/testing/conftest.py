"""Servers that must have exited at the end of a synchronous test."""

from __future__ import annotations

import time
from collections.abc import Generator

import pytest

from tests.mcp_launch.support import Marked


@pytest.fixture
def marked() -> Generator[Marked]:
    """Servers that must leave no process at the end of the test."""
    servers = Marked()
    yield servers
    gone_by = time.monotonic() + 10
    # The kernel takes a moment to let go of what was killed.
    while servers.running() and time.monotonic() < gone_by:
        time.sleep(0.01)
    assert servers.running() == []

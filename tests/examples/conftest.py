"""Each test checks that no process of the agent is left. Both versions are tested, with agents on both event loops."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.examples.support import Place


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of the client's end; tests/acp_bindings/connection tests both."""
    return "asyncio"


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    """The version of the protocol."""
    return request.param


@pytest.fixture
async def place(anyio_backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Place]:
    """The files and the mark of an agent, of which no process may be left at the end. Those of v2 run on trio."""
    speaks_v2 = "version" in request.fixturenames and request.getfixturevalue("version") == 2
    place = Place(tmp_path, loop="trio" if speaks_v2 else "asyncio")
    yield place
    await place.nothing_left()

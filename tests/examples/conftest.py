"""Each test checks that no process of the agent is left. Both versions are tested, with agents on both event loops."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.examples.support import Place


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loop of a test: trio for v2."""
    return "trio" if "version" in request.fixturenames and request.getfixturevalue("version") == 2 else "asyncio"


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    """The version of the protocol."""
    return request.param


@pytest.fixture
def place(anyio_backend: str, tmp_path: Path) -> Generator[Place]:
    """The files and the mark of an agent, of which no process may be left at the end."""
    place = Place(tmp_path, loop=anyio_backend)
    yield place
    place.nothing_left()

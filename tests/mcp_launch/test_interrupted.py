"""A launch can be cancelled at any step: one of five here, all of them in `nox -s interrupted`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp_launch.interrupted import leaks
from tests.mcp_launch.support import Marked, bad_web_server, http

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["works", "leaves_at_probe"])
async def test_a_stdio_launch_that_is_cancelled_anywhere_leaves_nothing(
    mode: str, marked: Marked, tmp_path: Path
) -> None:
    found, places = await leaks([marked.plain(mode)], marked, cwd=tmp_path, stride=5)

    assert (found, places > 5) == ([], True)


# On trio, a cancelled request and the SDK's loop over events leave generators to the garbage collector.
@pytest.mark.filterwarnings("ignore:Async generator 'httpx2?._(content.ByteStream|models|sse):ResourceWarning")
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_web_launch_that_is_cancelled_anywhere_leaves_nothing(
    kind: str, marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    found, places = await leaks([http(echo_urls[kind], kind=kind)], marked, cwd=tmp_path, stride=5)

    assert (found, places > 5) == ([], True)


# On trio: a request whose sending is cancelled leaves the generator of its body to the garbage collector.
@pytest.mark.filterwarnings("ignore:Async generator 'httpx2?._content.ByteStream:ResourceWarning")
async def test_a_launch_that_is_cancelled_while_a_server_fails_leaves_nothing_and_raises_nothing(
    marked: Marked, tmp_path: Path
) -> None:
    with bad_web_server() as origin:
        found, places = await leaks([http(f"{origin}/sse", kind="sse")], marked, cwd=tmp_path, stride=5)

    assert (found, places > 5) == ([], True)

"""The SDK's own client, `mcp.Client`, on the same servers, in a separate process."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import anyio
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.mcp_launch.failures.catalogue import Case
from tests.mcp_launch.failures.scene import Entry, Scene
from tests.mcp_launch.failures.secrets import Planted

__all__ = ["beside"]

_CAP = 20.0
"""Seconds after which the client counts as hung."""


async def beside(case: Case, folder: Path) -> str:
    """Return a line with the outcome of the case's server in that client."""
    with Scene.of(Planted(str(case)), folder) as scene:
        entry = json.dumps(_tame(case.server(scene))).encode()
        began = time.perf_counter()
        said = ""
        with anyio.move_on_after(_CAP) as cap:
            done = await anyio.run_process([sys.executable, "-m", __name__], input=entry, check=False)
            said = done.stdout.decode(errors="replace").strip()
        took = time.perf_counter() - began
        left = scene.marked.running()
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    if cap.cancelled_caught:
        return f"hangs: nothing after {_CAP:g} s"
    processes = f"; {len(left)} process{'es' if len(left) > 1 else ''} left" if left else ""
    return f"{said or 'ends without a word'} ({took:.1f} s with its start){processes}"


def _tame(entry: Entry) -> Entry:
    """Return the entry without the secrets that are only planted for the search, which this client would show."""
    hard = ("ECHO", "SECRET_AWKWARD", "X-Awkward")
    return {
        key: [pair for pair in value if pair["name"] not in hard] if key in ("env", "headers") else value
        for key, value in entry.items()
    }


async def _try(entry: dict[str, Any]) -> str:
    try:
        async with Client(_transport(entry)) as client:
            await client.list_tools()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what its users see
        return "; ".join(f"{type(leaf).__name__}: {str(leaf).splitlines()[0][:90]}" for leaf in _leaves(error))
    return "works"


def _transport(entry: dict[str, Any]) -> Any:
    if "command" in entry:
        env = {pair["name"]: pair["value"] for pair in entry["env"]}
        return stdio_client(StdioServerParameters(command=entry["command"], args=entry["args"], env=env))
    headers = {pair["name"]: pair["value"] for pair in entry["headers"]}
    if entry["type"] == "sse":
        return sse_client(entry["url"], headers=headers)
    return streamable_http_client(entry["url"], http_client=create_mcp_http_client(headers=headers))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error


if __name__ == "__main__":
    print(anyio.run(_try, json.load(sys.stdin)), flush=True)

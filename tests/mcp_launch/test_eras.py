"""Which era of MCP is spoken with a server: also with one that swallows the probe, or answers it late."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcp_launch
from mcp_launch import Budgets
from tests.mcp_launch.support import SERVERS, Marked

pytestmark = pytest.mark.anyio

PROBE = Budgets(probe=0.2, close=1.0)


async def era_of(server: dict[str, Any], *, cwd: Path) -> str | None:
    """The era of a server that works, which it must within half of the time that the SDK waits for an answer."""
    with anyio.fail_after(5):
        async with mcp_launch.launch([server], cwd=cwd, budgets=PROBE) as fleet:
            assert fleet.failures == []
            return fleet.report["servers"][0]["era"]


async def test_a_program_whose_input_is_read_before_it_runs_may_know_the_newer_era_alone(
    marked: Marked, tmp_path: Path
) -> None:
    script = f"cat | {sys.executable} -S {SERVERS / 'odd.py'} starts_slowly_and_knows_2026_alone"

    assert await era_of(marked.stdio("odd", "/bin/sh", "-c", script), cwd=tmp_path) == "2026-07-28"


async def test_a_program_that_lost_the_probe_and_knows_the_newer_era_alone_is_asked_again(
    marked: Marked, tmp_path: Path
) -> None:
    script = f"read -r lost; exec {sys.executable} -S {SERVERS / 'odd.py'} knows_2026_alone"

    assert await era_of(marked.stdio("odd", "/bin/sh", "-c", script), cwd=tmp_path) == "2026-07-28"


async def test_a_refusal_of_the_handshake_is_told_also_when_the_probe_was_swallowed(
    marked: Marked, tmp_path: Path
) -> None:
    server = marked.plain("swallows_probe_and_rejects")

    with anyio.fail_after(5):
        async with mcp_launch.launch([server], cwd=tmp_path, budgets=PROBE) as fleet:
            [failure] = fleet.failures

    assert (failure.stage, failure.code) == ("handshake", "rejected")
    assert failure.facts["jsonrpc_error"]["code"] == -32603

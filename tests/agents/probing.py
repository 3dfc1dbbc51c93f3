"""Probe the agents from npm and PyPI, and write the table of docs/probe.md: `python -m tests.agents.probing`."""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path

import anyio

from acp_bindings.probe import Report, probe
from tests.agents.__main__ import AGENTS, table
from tests.agents.meeting import Agent, environment, path_of

PAGE = Path(__file__).parents[2] / "docs" / "probe.md"
TABLE = re.compile(r"(?<=<!-- Written by `nox -s agents -- --probe`. -->\n\n)(\|.*\n)*")
SPEAK_V2 = ("@agentclientprotocol/claude-agent-acp", "@agentclientprotocol/codex-acp")
TIMEOUT = 60.0
"""An agent without an account may try for half a minute to reach its provider."""


def main() -> None:
    """Probe each agent in each version that it speaks."""
    rows: list[list[str]] = []
    for agent in AGENTS:
        for version in (1, 2) if agent.package in SPEAK_V2 else (1,):
            rows.append(row_of(agent, anyio.run(probed, agent, version)))
            print(*rows[-1], flush=True)
    head = ["agent", "protocol", "ok", "FAIL", "warn", "skip", "failed checks"]
    text = "".join(f"{line}\n" for line in table(head, rows))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: text, page, count=1), encoding="utf-8")


async def probed(agent: Agent, version: int) -> Report:
    """Probe an agent in an empty home, without an account."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, contextlib.chdir(home):
        command = [path_of(agent), *agent.command[1:]]
        return await probe(command, version=version, env=environment(home), timeout=TIMEOUT)


def row_of(agent: Agent, report: Report) -> list[str]:
    """Return the row of an agent."""
    counts = [str(report.count(status)) for status in ("ok", "fail", "warn", "skip")]
    failed = [f"`{each.check.id}`" for each in report.results if each.status == "fail"]
    return [f"`{agent.package}` {agent.version}", f"v{report.version}", *counts, ", ".join(failed) or "none"]


if __name__ == "__main__":
    main()

"""Each test runs on asyncio and on trio, and must leave no process, socket or task behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.mcp_launch.support import Marked, marked_servers
from tests.servers.installed import WebServer, from_npm

REPORT = "server report"


@pytest.fixture
async def marked(anyio_backend: str, web_servers: dict[str, dict[str, Any]]) -> AsyncGenerator[Marked]:
    """Servers that must leave nothing at the end of the test: no process, pipe, socket or task."""
    async with marked_servers() as servers:
        yield servers


@pytest.fixture(scope="session")
def web_servers() -> Generator[dict[str, dict[str, Any]]]:
    """The raw JSON of server-everything, over Streamable HTTP and over SSE."""
    with ExitStack() as running:
        yield {kind: running.enter_context(WebServer(kind)).spec for kind in ("http", "sse")}


@pytest.fixture(params=["stdio", "http", "sse"])
def everything(request: pytest.FixtureRequest, marked: Marked, web_servers: dict[str, dict[str, Any]]) -> Any:
    """The raw JSON of server-everything, over each transport."""
    return from_npm(marked, "everything") if request.param == "stdio" else web_servers[request.param]


@pytest.fixture
def show(record_property: Callable[[str, object], None], anyio_backend: str) -> Callable[[object], None]:
    """Add the report of a launch to the tables at the end of the run."""
    return lambda report: record_property(REPORT, (anyio_backend, report))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print for each server its name, its protocol version, and how long it took."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    told = [each for report in reports if getattr(report, "when", "") == "call" for each in report.user_properties]
    layout = "{:<12}{:<11}{:<34}{:<12}{:>6}{:>10}".format
    for backend, report in (value for name, value in told if name == REPORT):
        terminalreporter.section(f"servers that others wrote, all at once on {backend}")
        terminalreporter.write_line(layout("name", "transport", "calls itself", "protocol", "tools", "ready in"))
        for server in report["servers"]:
            itself = "{name} {version}".format(**server["server"])
            seconds = f"{sum(server['seconds'].values()):.2f} s"
            terminalreporter.write_line(
                layout(
                    server["name"],
                    server["transport"],
                    itself,
                    server["protocol_version"],
                    len(server["tools"]),
                    seconds,
                )
            )

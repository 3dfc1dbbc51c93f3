"""The pytest plugin: its options, its fixtures, and the collection of the config file.

pytest loads it always, so it imports only pytest until it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_launch.testing import _settings as settings

if TYPE_CHECKING:
    from mcp_launch.testing._fixture import McpServerFixture
    from mcp_launch.testing._items import McpConfig


_COLLECTED = pytest.StashKey[bool]()
"""Set once the config file has been collected."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and the ini-file."""
    group = parser.getgroup("mcp", "MCP servers (mcp_launch)")
    group.addoption(
        "--mcp-config", metavar="FILE", help="Test each MCP server of FILE, and make them available to fixtures."
    )
    group.addoption(
        "--mcp-timeout", type=float, metavar="SECONDS", help="Seconds until a server must be ready or respond (30)."
    )
    group.addoption(
        "--mcp-cwd",
        metavar="DIR",
        help="Working directory of the servers (default: the one in FILE, or pytest's root).",
    )
    group.addoption(
        "--mcp-set",
        action="append",
        metavar="NAME[=VALUE]",
        help="Give the value of an input of FILE, as mcp-launch --set does; repeatable.",
    )
    parser.addini(
        "mcp_config", "Like --mcp-config, relative to this file; collected if no tests are named on the command line."
    )
    parser.addini("mcp_timeout", "Like --mcp-timeout.")


def pytest_configure(config: pytest.Config) -> None:
    """Reject settings that would fail later, or in every test."""
    if not config.getoption("mcp_config"):
        return
    _need_extra()
    path = settings.config_file(config)
    if path is not None and not path.is_file():
        raise pytest.UsageError(f"--mcp-config: {path} does not exist")
    settings.timeout(config)


def pytest_sessionstart() -> None:
    """Let Ctrl-C be raised again, if an earlier run in this process was interrupted."""
    _set_run_is_over(is_over=False)


def pytest_keyboard_interrupt() -> None:
    """Do not let fixtures raise Ctrl-C again while they are torn down."""
    _set_run_is_over(is_over=True)


def _set_run_is_over(*, is_over: bool) -> None:
    if kept := sys.modules.get("mcp_launch.testing._loop"):
        kept.Kept.run_is_over = is_over


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> McpConfig | None:
    """Collect the config file if the collection finds it, or if it is named."""
    config = parent.config
    if file_path != settings.config_file(config) or not (_is_wanted(config) or parent.session.isinitpath(file_path)):
        return None
    return _collector(file_path, parent)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Collect the config file if the collection did not find it: it is hidden, or not in a test directory."""
    path = settings.config_file(config)
    if path is not None and _is_wanted(config) and not config.stash.get(_COLLECTED, False):
        items += session.genitems(_collector(path, session))


def _server(request: pytest.FixtureRequest) -> Generator[McpServerFixture]:
    """Start MCP servers for a test: `mcp_server("name")`, `mcp_server(command=[…])` or `mcp_server(server)`.

    In an async test, use `async with mcp_server.open(…) as session`. All servers are closed at the end.
    """
    _need_extra()
    from mcp_launch.testing._fixture import McpServerFixture  # noqa: PLC0415 - not before it is used

    with McpServerFixture(request.config) as fixture:
        yield fixture


mcp_server = pytest.fixture(_server, name="mcp_server")
module_mcp_server = pytest.fixture(_server, scope="module", name="module_mcp_server")
session_mcp_server = pytest.fixture(_server, scope="session", name="session_mcp_server")


def _is_wanted(config: pytest.Config) -> bool:
    """Return True if the config file is collected even if the command line does not name it as a test file."""
    named_tests = config.args_source is pytest.Config.ArgsSource.ARGS
    return bool(config.getoption("mcp_config")) or not named_tests


def _collector(path: Path, parent: pytest.Collector) -> McpConfig:
    _need_extra()
    from mcp_launch.testing._items import McpConfig  # noqa: PLC0415 - not before it is used

    parent.config.stash[_COLLECTED] = True
    return McpConfig.from_parent(parent, path=path)  # pyright: ignore[reportUnknownMemberType]


def _need_extra() -> None:
    from mcp_launch._extra import what_is_missing  # noqa: PLC0415 - not before it is used

    if message := what_is_missing("mcp_launch"):
        raise pytest.UsageError(message)

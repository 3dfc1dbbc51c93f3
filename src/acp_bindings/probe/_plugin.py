"""The pytest plugin: `--acp-agent "COMMAND"` makes a test of each check.

pytest loads it always, so it imports only pytest until it is used.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line."""
    group = parser.getgroup("acp", "ACP agents (acp_bindings)")
    group.addoption("--acp-agent", metavar="COMMAND", help="Probe an ACP agent: its command, or its URL.")
    group.addoption("--acp-version", type=int, choices=(1, 2), default=1, help="The version of the protocol (1).")
    group.addoption("--acp-prompt", metavar="TEXT", help="The text of all prompts.")
    group.addoption("--acp-auth", metavar="METHOD", help="Log in with this authentication method.")
    group.addoption("--acp-timeout", type=float, metavar="SECONDS", help="Seconds to wait for an answer (30).")


def pytest_configure(config: pytest.Config) -> None:
    """Reject a missing extra before the first test."""
    if config.getoption("acp_agent") and find_spec("anyio") is None:
        raise pytest.UsageError("--acp-agent needs anyio: pip install 'acp-bindings[tools]'")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add a test for each check."""
    if config.getoption("acp_agent"):
        from acp_bindings.probe._items import collector  # noqa: PLC0415 - not before it is used

        items += session.genitems(collector(session))

"""The pytest plugin: `--acp-agent "COMMAND"` makes a test of each check.

pytest loads it always, so it imports only pytest until it is used.
"""

from __future__ import annotations

import shlex
import shutil
from argparse import ArgumentTypeError
from importlib.util import find_spec

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line."""
    group = parser.getgroup("acp", "ACP agents (acp_bindings)")
    group.addoption("--acp-agent", metavar="COMMAND", help="Probe an ACP agent: its command, or its URL.")
    group.addoption("--acp-version", type=int, choices=(1, 2), default=1, help="The version of the protocol (1).")
    group.addoption("--acp-prompt", metavar="TEXT", help="The text of all prompts.")
    group.addoption("--acp-auth", metavar="METHOD", help="Log in with this authentication method.")
    group.addoption(
        "--acp-header", action="append", type=_header, metavar="'NAME: VALUE'", help="Send this header to the URL."
    )
    group.addoption("--acp-timeout", type=float, metavar="SECONDS", help="Seconds to wait for an answer (30).")


def _header(text: str) -> tuple[str, str]:
    from acp_bindings.probe._probing import header_in  # noqa: PLC0415 - not before it is used

    try:
        return header_in(text)
    except ValueError as error:
        # argparse would show the text of a ValueError.
        raise ArgumentTypeError(str(error)) from None


def pytest_configure(config: pytest.Config) -> None:
    """Reject an agent that cannot be tried before the first test."""
    agent: str | None = config.getoption("acp_agent")
    if agent is not None and (problem := _problem(agent)):
        raise pytest.UsageError(f"--acp-agent: {problem}")


def _problem(agent: str) -> str | None:
    if find_spec("anyio") is None:
        return "anyio is missing: pip install 'acp-bindings[tools]'"
    from acp_bindings.probe._probing import is_url, missing_for_url  # noqa: PLC0415 - not before it is used

    if is_url(agent):
        return missing_for_url()
    try:
        program = next(iter(shlex.split(agent)), None)
    except ValueError as error:
        return f"the command cannot be split into arguments: {error}"
    if program is None:
        return "give the command of an agent, or its URL"
    return None if shutil.which(program) else f"command not found: {program}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add a test for each check."""
    if config.getoption("acp_agent"):
        from acp_bindings.probe._items import collector  # noqa: PLC0415 - not before it is used

        items += session.genitems(collector(session))

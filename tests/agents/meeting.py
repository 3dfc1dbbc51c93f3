"""Meet an agent: start it without an account, initialize, request a session, and check that it exits."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Literal

from acp_bindings.client import Client
from acp_bindings.connection import connect_process
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import OPENING, AgentPeer, RequestError
from tests.mcp_launch.support import MARK, Marked

MODULES = Path(__file__).parent / "node_modules"
ENVIRONMENTS = Path(__file__).parent / ".venv"
"""The folder with a virtual environment for each package from PyPI, by its name."""
PATIENCE = 60.0
"""Timeout in seconds for each response and for the exit."""
LOGIN = "_auth/status_update"
"""An extension with which agents report who is logged in."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of package.json or of requirements.txt, as an editor would start it."""

    package: str
    command: tuple[str, ...]
    index: Literal["npm", "PyPI"] = "npm"

    @property
    def programs(self) -> Path:
        """The folder of its commands."""
        if self.index == "npm":
            return MODULES / ".bin"
        return ENVIRONMENTS / self.package / ("Scripts" if sys.platform == "win32" else "bin")

    @property
    def version(self) -> str:
        """The installed version."""
        if self.index == "npm":
            return json.loads((MODULES / self.package / "package.json").read_bytes())["version"]
        modules = (ENVIRONMENTS / self.package).rglob("site-packages")
        return next(iter(distributions(name=self.package, path=[*map(str, modules)]))).version


@dataclass(frozen=True, slots=True)
class Meeting:
    """The outcome of a meeting."""

    peer: AgentPeer | None
    """The agent as described by its response to `initialize`; None if that response is invalid."""
    error: RequestError | None
    """The error of `initialize` or `session/new`; None if there was a session."""
    complaints: list[str]
    """Our complaints about its lines, and its complaints about ours."""
    left: list[int]
    """The processes that were still running afterwards."""


async def meet(agent: Agent, protocols: Sequence[ProtocolPackage]) -> Meeting:
    """Start the agent in an empty home, with these versions to choose from.

    Raises:
        AcpError: the agent cannot be started or does not respond.
    """
    # All authentication methods are requested, including those for a terminal.
    client = Client("acp-bindings", version="0", protocols=protocols, capabilities={"auth.terminal"})
    marked = Marked()
    with tempfile.TemporaryDirectory() as home, _heard() as complaints:
        process = connect_process(
            [path_of(agent), *agent.command[1:]],
            protocol=OPENING,
            handlers={LOGIN: lambda _params, _connection: None},
            cwd=home,
            env=environment(home) | {MARK: marked.mark},
            patience=PATIENCE,
        )
        peer, error = None, None
        try:
            async with client.connect(process, timeout=PATIENCE) as connected:
                peer = connected.peer
                # Its end closes the session, if the agent supports that.
                async with connected.session(cwd=home, timeout=PATIENCE):
                    pass
        except RequestError as refused:
            error = refused
        return Meeting(peer, error, complaints, marked.running())


@contextmanager
def _heard() -> Generator[list[str]]:
    """Collect every log message of a connection."""
    said: list[str] = []

    class Hearing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    log, hearing = logging.getLogger("acp_bindings"), Hearing()
    log.addHandler(hearing)
    log.setLevel(logging.DEBUG)
    try:
        yield said
    finally:
        log.removeHandler(hearing)


def path_of(agent: Agent) -> str:
    found = shutil.which(agent.command[0], path=str(agent.programs))
    assert found, f"{agent.command[0]} is not installed: run `nox -s agents`"
    return found


def environment(home: str) -> dict[str, str]:
    """Return an environment without credentials, in which the Node of package.json comes first on PATH."""
    homes = dict.fromkeys(("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), home)
    keys = {name: "" for name in os.environ if name.endswith(("_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN"))}
    path = os.pathsep.join((str(MODULES / ".bin"), os.environ["PATH"]))
    # Claude Code will not run for root otherwise, even if it is not to do anything.
    return {**homes, **keys, "PATH": path, "IS_SANDBOX": "1"}

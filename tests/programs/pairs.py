"""The pairs of client and agent programs: how each is run, and the check that no process is left."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio

from tests.mcp_launch.support import MARK, Marked, http, marked_servers
from tests.programs import our_client
from tests.programs.steps import FOLDER, NOT_OFFERED, STEPS, Facts, Plan, word

EXAMPLES = FOLDER.parents[1] / "examples"
PATIENCE = 300
"""Timeout in seconds for all steps of a pair."""


@dataclass(frozen=True)
class Pair:
    """A client, and the command of the agent that it drives."""

    client: str
    agent: str
    drive: Callable[[Plan], Awaitable[Mapping[str, Facts]]]
    command: Callable[[], list[str]]
    version: int = 1
    """The negotiated protocol version."""
    latest: int = 2
    """The latest version that the agent supports."""

    def __str__(self) -> str:
        return f"{self.client} → {self.agent}, v{self.version}"


def node() -> str:
    """Return the path of Node, if the packages are installed too.

    Raises:
        RuntimeError: Node or the packages are not installed.
    """
    found = shutil.which("node")
    if found is None or not (FOLDER / "node_modules" / "@agentclientprotocol" / "sdk").is_dir():
        raise RuntimeError("Node or the TypeScript SDK is not installed: run `nox -s programs`")
    return found


async def typescript_client(plan: Plan) -> Mapping[str, Facts]:
    """Return the facts of the TypeScript SDK's client."""
    process = await anyio.run_process([node(), str(FOLDER / "client.mjs"), json.dumps(asdict(plan))], check=False)
    if process.returncode:
        raise RuntimeError(process.stderr.decode())
    facts: dict[str, Facts] = json.loads(process.stdout)
    return facts


def our_agent() -> list[str]:
    return [sys.executable, str(EXAMPLES / "agent.py")]


def typescript_agent() -> list[str]:
    return [node(), str(FOLDER / "agent.mjs")]


def official_agent() -> list[str]:
    return [sys.executable, str(FOLDER / "agent_official.py")]


PAIRS = [
    Pair("TypeScript client", "our agent", typescript_client, our_agent),
    Pair("TypeScript client", "our agent", typescript_client, our_agent, version=2),
    Pair("our client", "TypeScript agent", our_client.drive, typescript_agent),
    Pair("our client", "TypeScript agent", our_client.drive, typescript_agent, version=2),
    Pair("our client", "official Python agent", our_client.drive, official_agent, latest=1),
    Pair("our client", "our agent", our_client.drive, our_agent),
    Pair("our client", "our agent", our_client.drive, our_agent, version=2),
]


@dataclass(frozen=True)
class Cell:
    """The outcome of a step."""

    is_right: bool
    facts: Facts

    @property
    def is_offered(self) -> bool:
        """True if the agent advertised the capability for the step."""
        return self.facts != NOT_OFFERED


async def play(pair: Pair, urls: Mapping[str, str]) -> dict[str, Cell]:
    """Return the outcome of every step of a pair, after all of its processes have ended.

    Args:
        pair: the client and the agent.
        urls: the URLs of the MCP server over `http` and over `sse`.
    """
    with tempfile.TemporaryDirectory() as folder:
        sessions, project = Path(folder, "sessions"), Path(folder, "project")
        sessions.mkdir()
        project.mkdir()
        async with marked_servers() as marked:
            plan = Plan(
                agent=pair.command(),
                env={"ACP_SESSIONS": str(sessions), MARK: marked.mark},
                version=pair.version,
                latest=pair.latest,
                cwd=str(project),
                servers=[*_servers(marked, urls, version=pair.version)],
            )
            with anyio.fail_after(PATIENCE):
                facts = await pair.drive(plan)
    return {step.name: Cell(step.is_right(facts[step.name], plan), facts[step.name]) for step in STEPS}


def _servers(marked: Marked, urls: Mapping[str, str], *, version: int) -> Generator[dict[str, Any]]:
    """Yield an MCP server for each transport of a version. In v2, each has a type, and SSE does not exist."""
    tools = marked.stdio("stdio", sys.executable, "-SI", str(FOLDER / "tools.py"), env={"WORD": word("stdio")})
    yield tools if version == 1 else {"type": "stdio", **tools}
    for kind in ("http", "sse") if version == 1 else ("http",):
        yield http(urls[kind], name=kind, kind=kind, headers={"X-Word": word(kind)})

"""The servers of `package.json` and of the dependency group `servers`, as an editor would configure them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from tests.mcp_launch.support import Marked, http

FOLDER = Path(__file__).parent
EVERYTHING = "@modelcontextprotocol/server-everything"
MODULES = FOLDER / "node_modules"


def from_npm(marked: Marked, name: str, *args: str | Path) -> dict[str, Any]:
    """The raw JSON of a server that npm has installed here."""
    command = MODULES / ".bin" / f"mcp-server-{name}"
    return marked.stdio(name, _existing(command), *map(str, args))


def by_npx(marked: Marked, *args: str) -> dict[str, Any]:
    """Return the raw JSON in the form of most documentation: npx starts a shell, which starts the server."""
    return marked.stdio("everything", shutil.which("npx") or "npx", "-y", EVERYTHING, *args)


def from_pypi(marked: Marked, name: str, *args: str | Path) -> dict[str, Any]:
    """Return the raw JSON of a server that pip has installed next to this Python."""
    command = Path(sys.executable).with_name(f"mcp-server-{name}")
    return marked.stdio(name, _existing(command), *map(str, args))


class WebServer:
    """Run server-everything with a URL on loopback. It ends with the block, or with this process."""

    def __init__(self, transport: str, *, port: int = 0) -> None:
        script, path = {"http": ("streamableHttp", "/mcp"), "sse": ("sse", "/sse")}[transport]
        program = MODULES / EVERYTHING / "dist" / "index.js"
        command = ["node", "--require", str(FOLDER / "loopback.cjs"), _existing(program), script]
        environment = {**os.environ, "PORT": str(port)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self._process.stdout
        self.port = int(self._process.stdout.readline())
        self.spec = http(f"http://127.0.0.1:{self.port}{path}", name="everything", kind=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End the process if it is running."""
        self._process.kill()
        self._process.communicate()


def _existing(program: Path) -> str:
    if not os.path.lexists(program):
        msg = f"{program.name} is not installed: run `nox -s servers`"
        raise RuntimeError(msg)
    return str(program)

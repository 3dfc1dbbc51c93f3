"""The environment of one case: its servers, a folder, and a secret in each entry."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from tests.mcp_launch.failures.secrets import Planted
from tests.mcp_launch.servers.web import Web, misbehaving_web, tls_server
from tests.mcp_launch.support import Marked, http

__all__ = ["Entry", "Scene"]

Entry: TypeAlias = dict[str, Any]
"""The raw JSON of one server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The parts from which the servers of one case are built."""

    folder: Path
    marked: Marked
    planted: Planted
    web: Web
    """The server repeats the secrets in its requests."""
    other: Web
    """A server with another origin, to which nothing must be sent."""
    tls_port: int
    closed_port: int

    @classmethod
    @contextmanager
    def of(cls, planted: Planted, folder: Path) -> Generator[Scene]:
        """Yield the scene with these secrets while its web servers run."""
        with (
            misbehaving_web(repeats_secrets=True) as web,
            misbehaving_web(repeats_secrets=True) as other,
            tls_server(folder) as tls_port,
        ):
            with socket.create_server(("127.0.0.1", 0)) as closed:
                closed_port: int = closed.getsockname()[1]
            yield cls(
                folder=folder,
                marked=Marked(),
                planted=planted,
                web=web,
                other=other,
                tls_port=tls_port,
                closed_port=closed_port,
            )

    def plain(self, mode: str = "works", *, name: str = "server") -> Entry:
        """Return the small server over stdio that misbehaves as the mode says."""
        return self.marked.plain(mode, name=name, env=self._env())

    def command(self, command: str, *args: str) -> Entry:
        """Return a server with any command."""
        return self.marked.stdio("server", command, *args, env=self._env())

    def file(self, text: str) -> Entry:
        """Return a server whose command is a file with that text, which is not executable."""
        script = self.folder / "script"
        script.write_text(text)
        return self.command(str(script))

    def at(
        self,
        path: str,
        *,
        kind: Literal["http", "sse"] = "http",
        login: Literal["none", "basic", "bearer"] = "basic",
        base: str | None = None,
    ) -> Entry:
        """Return the web server that misbehaves as the path says, or the one at `base`."""
        planted = self.planted
        scheme, _, place = (base or self.web.origin).partition("://")
        user = f"{planted['user']}:{quote(planted['awkward password'], safe='')}@" if login == "basic" else ""
        query = f"key={planted['query']}&more={quote(planted['awkward query'], safe='')}"
        headers = {"X-Key": planted["header"], "X-Awkward": planted["awkward header"]}
        if login == "bearer":
            headers["Authorization"] = f"Bearer {planted['token']}"
        return http(f"{scheme}://{user}{place}/{path}?{query}", name="server", headers=headers, kind=kind)

    def url(self, url: str, **headers: str) -> Entry:
        """Return a server with any URL and a header of that name."""
        return http(url, name="server", headers={"X-Key": self.planted["header"], **headers})

    def _env(self) -> dict[str, str]:
        return {"ECHO": "1", "SECRET": self.planted["env"], "SECRET_AWKWARD": self.planted["awkward env"]}

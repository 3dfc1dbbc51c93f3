"""The record that a client stores of a session to load it again."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from acp_bindings._models.base import Model, known_member
from acp_bindings.decoding import decode
from acp_bindings.errors import AcpError
from acp_bindings.setup._paths import is_absolute
from acp_bindings.setup.errors import Remark

if TYPE_CHECKING:
    from acp_bindings.setup.unions import (
        ForkSessionRequest,
        LoadSessionRequest,
        McpServer,
        McpServerLike,
        NewSessionRequest,
        ResumeSessionRequest,
        SessionInfo,
    )


class ServersMissing(AcpError, ValueError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A stored record has only the names of its MCP servers."""

    def __init__(self, session_id: str, names: tuple[str, ...]) -> None:
        super().__init__(session_id, names)
        self.session_id = session_id
        self.names = names

    def __str__(self) -> str:
        names = ", ".join(f'"{each}"' for each in self.names)
        return (
            f'session "{self.session_id}": the record has only the names of the MCP servers {names}, because it was '
            "stored without secrets. Add the servers with record.with_servers(…), or pass mcp_servers="
        )


@dataclass(frozen=True, kw_only=True)
class SessionRecord:
    """A session, as needed by `load_session` and `resume_session`.

    An agent finds a session by its id and `cwd`. It does not store directories and servers, so they are sent each time.
    The id is opaque and is preserved exactly.
    """

    session_id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer | str, ...] = ()
    """The servers; a string is the name of a server that must be filled in with `with_servers`."""
    prompted: bool = False
    """True if the session had a prompt. Many agents store a session only with its first prompt."""

    def __post_init__(self) -> None:
        """Check the types early, instead of when the record is stored or sent.

        Raises:
            TypeError: the id or the directory is not a string, or the servers are a single string.
        """
        for name, value in (("session_id", self.session_id), ("cwd", self.cwd)):
            if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"{name} of a SessionRecord must be a string, not {type(value).__name__}")
        if isinstance(self.mcp_servers, str):
            raise TypeError("mcp_servers of a SessionRecord must be a tuple of servers or names")

    @classmethod
    def of(
        cls,
        request: NewSessionRequest | ForkSessionRequest | LoadSessionRequest | ResumeSessionRequest,
        session_id: str | None = None,
    ) -> SessionRecord:
        """Return the record of the session that *request* created or loaded.

        Args:
            request: the request that was sent.
            session_id: the id in the response, if the request has none (`session/new`) or that of another session
                (`session/fork`).

        Raises:
            TypeError: neither has an id.
        """
        asked_for: str | None = known_member(request, "session_id")
        id_ = session_id if session_id is not None else asked_for
        if id_ is None:
            raise TypeError("session/new has its id in the response: SessionRecord.of(request, response.session_id)")
        return cls(
            session_id=id_,
            cwd=request.cwd,
            additional_directories=tuple(request.additional_directories),
            # Copies, because the models of the request may be changed later.
            mcp_servers=tuple(each.model_copy(deep=True) for each in request.mcp_servers),
            prompted=asked_for is not None,
        )

    @classmethod
    def of_listed(cls, info: SessionInfo, *, mcp_servers: Iterable[McpServer | str]) -> SessionRecord:
        """Return the record of a session from `session/list`, which does not include the servers."""
        return cls(
            session_id=info.session_id,
            cwd=info.cwd,
            additional_directories=tuple(info.additional_directories),
            mcp_servers=tuple(mcp_servers),
            prompted=True,
        )

    def after_prompt(self) -> SessionRecord:
        """Return the record after the first prompt has been answered."""
        return replace(self, prompted=True)

    def with_servers(self, servers: Iterable[McpServer]) -> SessionRecord:
        """Return the record with each server name replaced by the server of that name in *servers*.

        *servers* may be all servers that the client has configured. Servers that the session did not have are not
        added.
        """
        known: dict[str, list[McpServer]] = {}
        for each in servers:
            known.setdefault(_name(each), []).append(each)

        def filled(server: McpServer | str) -> McpServer | str:
            if not isinstance(server, str) or server not in known:
                return server
            # v1 allows several servers with one name; only their order distinguishes them.
            named = known[server]
            return named.pop(0) if len(named) > 1 else named[0]

        return replace(self, mcp_servers=tuple(map(filled, self.mcp_servers)))

    @property
    def server_names(self) -> tuple[str, ...]:
        """The names of its servers; the type for a server without a name."""
        return tuple(each if isinstance(each, str) else _name(each) for each in self.mcp_servers)

    def servers(self) -> list[McpServerLike]:
        """Return its servers for a request.

        Raises:
            ServersMissing: the record has only the names of some servers.
        """
        if missing := tuple(each for each in self.mcp_servers if isinstance(each, str)):
            raise ServersMissing(self.session_id, missing)
        return [each for each in self.mcp_servers if not isinstance(each, str)]

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON to store. Only the names of the servers are included.

        The environment, headers, arguments and URLs of servers may contain secrets. The client has to add them again.
        """
        return {
            "sessionId": self.session_id,
            "cwd": self.cwd,
            "additionalDirectories": list(self.additional_directories),
            "mcpServers": list(self.server_names),
            "prompted": self.prompted,
        }

    @classmethod
    def from_json(cls, data: str | bytes | bytearray | Mapping[str, Any]) -> SessionRecord:
        """Return the record from the JSON of `to_json`, as a string or parsed. It has only the names of the servers.

        Raises:
            DecodeError: *data* is not a record.
        """
        return cls(**vars(decode(_Stored, data)))

    def load_remarks(self, *, listed: Iterable[SessionInfo] | None = None) -> list[Remark]:
        """Return the likely problems of loading or resuming the session.

        - `load-before-prompt`: it had no prompt yet; agents such as Claude Code store a session with its first prompt.
        - `session-not-listed`: the agent lists sessions, but not this one.
        - `session-id-altered`: the agent lists an id that differs only in case, white space, or a file name around it.
        - `cwd-mismatch`: the agent lists the session with another directory; Claude Code finds a session by that.

        Args:
            listed: all pages of the agent's response to `session/list`, if it supports that.
        """
        found: list[Remark] = []
        if not self.prompted:
            text = "the session had no prompt yet; many agents store a session only with its first prompt"
            found.append(Remark(("sessionId",), "load-before-prompt", text, facts={"sessionId": self.session_id}))
        if listed is not None:
            found += _listing_remarks(self, list(listed))
        return found


class _Stored(Model):
    """A record as JSON, with the fields of `SessionRecord`."""

    session_id: str
    cwd: str
    additional_directories: tuple[str, ...]
    mcp_servers: tuple[str, ...]
    prompted: bool


_Stored.__name__ = "SessionRecord"  # which errors name


def _listing_remarks(record: SessionRecord, listed: list[SessionInfo]) -> list[Remark]:
    facts = {"sessionId": record.session_id}
    found = [each for each in listed if each.session_id == record.session_id]
    if not found:
        alike = [each.session_id for each in listed if loosely(each.session_id) == loosely(record.session_id)]
        if alike:
            text = f'the agent has "{alike[0]}"; send the id exactly as it is'
            return [Remark(("sessionId",), "session-id-altered", text, "error", facts | {"listed": alike[0]})]
        text = "the agent does not list it; it may not be stored yet, or belong to another directory"
        return [Remark(("sessionId",), "session-not-listed", text, facts=facts)]
    listed_cwd = found[0].cwd
    if listed_cwd == record.cwd:
        return []
    facts |= {"cwd": record.cwd, "listed": listed_cwd}
    if _normal(listed_cwd) == _normal(record.cwd):
        text = f'the session belongs to "{listed_cwd}", and may not be found with another spelling'
        return [Remark(("cwd",), "cwd-mismatch", text, "warning", facts)]
    text = f'the session belongs to "{listed_cwd}"; send that'
    return [Remark(("cwd",), "cwd-mismatch", text, "error", facts)]


def loosely(session_id: str) -> str:
    """Return the id in lower case, without white space and parts of a file name around it, which are easily changed."""
    return session_id.strip().casefold().removesuffix(".jsonl").removeprefix("session-")


def _normal(path: str) -> str:
    """Return the path in normal form, by the rules of its system."""
    if is_absolute(path, flavour="windows"):
        return ntpath.normcase(ntpath.normpath(path))
    return posixpath.normpath(path)


def _name(server: object) -> str:
    """Return the name of a server in a record, or its type: future transports may not have names."""
    return str(getattr(server, "name", None) or getattr(server, "type", ""))

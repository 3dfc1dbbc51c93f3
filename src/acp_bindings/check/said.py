"""One message, or the payload of one, as the rules look at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from acp_bindings._json.shapes import items_of, members_of
from acp_bindings._models.base import Model
from acp_bindings.errors import AcpError, Finding, Path
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.messages import Id
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.remarks import Remark
from acp_bindings.setup.servers import servers_remarks
from acp_bindings.setup.versions import version_of

if TYPE_CHECKING:
    from acp_bindings.check.conversation import Asked, Conversation

Kind: TypeAlias = Literal["request", "notification", "response", "error", "payload", "unreadable"]
"""A kind of message; or a payload: params or a result without the message around them."""


@dataclass(kw_only=True)
class Said:
    """A message or a payload, read as far as possible, with what was known when it came.

    Paths begin at the top of the line or of the document.
    """

    kind: Kind
    protocol: ProtocolPackage
    body: Any = None
    """The JSON of the params, of the result, or of the payload."""
    at: Path = ()
    """The way to `body`."""
    message: Any = None
    """The JSON of the message, or of the payload."""
    top: Path = ()
    """The way to `message`."""
    typed: Any = None
    """`body` as an object of its type; None where it could not be read, or has no type."""
    type_name: str | None = None
    """The name of the type of `body`."""
    method: str | None = None
    """The method; of a response that of the request."""
    id: Id = None
    has_id: bool = False
    """Whether it has an id that can be one."""
    sender: Side | None = None
    """Who said it; None where that cannot be told."""
    wrong: tuple[Remark, ...] = ()
    """Why it could not be read, with the ids of rules."""
    findings: tuple[Finding, ...] = ()
    """What reading it excused, with the paths in `body`."""
    error_code: int | None = None
    """The code, if it is an error."""
    asked: Asked | None = None
    """The request that it answers."""
    before: Conversation | None = None
    """The conversation before it; None where there is none."""
    untimely: AcpError | None = None
    """Why it may not come now, by `Lifecycle`."""
    replayed: tuple[Remark, ...] = ()
    """What `ReplayCollector` remarks on, with the paths in `body`."""

    @property
    def version(self) -> int:
        """The version of the protocol that it is read by."""
        return version_of(self.protocol)

    @property
    def members(self) -> dict[str, Any]:
        """The members of `body`; none of what is no object."""
        return members_of(self.body)

    @property
    def session_id(self) -> str | None:
        """The id of the session that it is about."""
        id_ = self.members.get("sessionId")
        return id_ if isinstance(id_, str) else None

    @property
    def opens(self) -> bool:
        """Whether it asks for a session, a new one or an earlier one."""
        return self.type_name in _OPENING

    @cached_property
    def objects(self) -> list[tuple[Path, Model, dict[str, Any]]]:
        """The objects in `typed`: of each the way to it from `body`, and its members as they were sent."""
        return [*_objects(self.typed, self.body, ())]

    @cached_property
    def servers(self) -> tuple[list[Any], Path]:
        """The MCP servers in it as JSON, and the way to their list."""
        if self.type_name == "McpServers":
            return items_of(self.body), self.at
        if self.type_name == "McpServer":
            return [self.body], self.at
        return items_of(self.members.get("mcpServers") if self.opens else None), (*self.at, "mcpServers")

    @cached_property
    def servers_remarks(self) -> list[Remark]:
        """What is known to go wrong with these servers."""
        servers, path = self.servers
        remarks = servers_remarks(map(members_of, servers), version=self.version, path=path)
        if self.type_name != "McpServer":
            return remarks
        # It stands alone, so its path has no index.
        return [replace(each, path=(*path, *each.path[len(path) + 1 :])) for each in remarks]


_OPENING = {"NewSessionRequest", "LoadSessionRequest", "ResumeSessionRequest", "ForkSessionRequest"}


def _objects(value: object, raw: object, path: Path) -> Iterator[tuple[Path, Model, dict[str, Any]]]:
    if isinstance(value, Model):
        members = members_of(raw)
        yield path, value, members
        for name, info in type(value).__pydantic_fields__.items():
            known_as = info.alias or name
            yield from _objects(getattr(value, name), members.get(known_as), (*path, known_as))
    elif isinstance(value, list) and len(cast("list[object]", value)) == len(items_of(raw)):
        for index, (each, its) in enumerate(zip(cast("list[object]", value), items_of(raw), strict=True)):
            yield from _objects(each, its, (*path, index))

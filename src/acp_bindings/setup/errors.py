# ruff: noqa: N818 - the names say what is wrong, which a suffix would not
"""The errors and remarks of `acp_bindings.setup`.

AcpError
├── UnknownCapability (also a ValueError)     the name of a capability is unknown
├── CapabilityNotAdvertised                   the peer has not advertised a capability; nothing was sent
│   └── McpServersRefused                     the agent does not support some MCP servers
├── AuthMethodRefused                         this login method is not available; nothing was sent
├── EndlessListing                            the pages of `session/list` repeat
├── ServersMissing (also a ValueError)        a record has only the names of its MCP servers
├── SessionIdReused                           a new session has the id of another session
├── CommandNotFound (also a LookupError)      a command was not found
├── OutsideRoots (also a PermissionError)     a path leads out of the directories of a session
└── RequestError                              an error response, received or to be sent: code and data
    ├── NotInitialized                        -32600  a message before `initialize`
    ├── InitializedAlready                    -32600  `initialize` was repeated when it is not allowed
    ├── MethodNotAdvertised                   -32601  its capability was not advertised
    ├── InvalidParams                         -32602  a field breaks a rule that is not in the schema
    │   ├── BadProtocolVersion                -32602  the protocol version is not valid
    │   └── NotAbsolute (also a ValueError)   -32602  a path is not absolute
    ├── UnsupportedProtocolVersion            -32022  the two sides have no version in common
    ├── AuthRequired                          -32000  login is required
    └── SessionNotFound                       -32002  the agent does not have the session

Errors about records, paths and commands are defined next to the code that raises them. A `RequestError` is used in
both directions: a handler raises it to send an error response, and `error_from` creates one from the `RequestFailed`
that a connection raises for an error response.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from acp_bindings._envelope import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from acp_bindings._json import items_of, members_of
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import AcpError, Issue, Path, format_path, one_line, summarize

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup.unions import AuthMethod

Severity: TypeAlias = Literal["error", "warning", "info"]
"""A violation of a rule, a likely problem, or information."""


@dataclass(frozen=True)
class Remark:
    """A likely mistake in data that could be read."""

    path: Path
    """The path in the message, by wire name and index; empty for the whole message."""

    rule: str
    """The id of the rule: `unknown-capability`, `relative-command`, …"""

    message: str
    """The problem and what to do, without secrets: no values of `env` or `headers`, no query of a server's URL."""

    severity: Severity = "warning"

    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Details by name, as JSON values."""

    def __str__(self) -> str:
        """`agentCapabilities.mcp: this capability is unknown and ignored; did you mean mcpCapabilities?`."""
        return f"{format_path(self.path)}{self.message}"


def issues_in(data: object) -> str:
    """Return `: mcpServers[0].headers: Field required` for *data* with issues as this package sends them, else "".

    Other data is not shown, because a peer may put anything there.
    """
    text = summarize([one_line(str(issue)) for issue in _issues(data)])
    return f": {text}" if text else ""


def _issues(data: object) -> Iterator[Issue]:
    for each in items_of(members_of(data).get("issues")):
        match each:
            case {"path": list(), "rule": str(rule), "message": str(message)}:
                path: list[Any] = each["path"]
                if all(type(step) in (str, int) for step in path):
                    yield Issue(tuple(path), rule, message)
            case _:
                pass


AUTH_REQUIRED, NOT_FOUND, UNSUPPORTED_VERSION = -32000, -32002, -32022
"""The codes that ACP adds to those of JSON-RPC (`ErrorCode`)."""


class UnknownCapability(AcpError, ValueError):
    """The name of a capability is unknown for this side, probably because of a typing error."""

    def __init__(self, name: str, guess: str | None = None, side: Literal["agent", "client"] | None = None) -> None:
        super().__init__(name, guess, side)
        self.name = name
        self.guess = guess
        """The name that was probably meant."""
        self.side = side
        """The other side, if it has a capability of this name."""

    def __str__(self) -> str:
        if self.side:
            asked = "agent" if self.side == "client" else "client"
            return f'"{self.name}" is a capability of the {self.side}, not of the {asked}'
        return f'unknown capability "{self.name}"' + (f'; did you mean "{self.guess}"?' if self.guess else "")


class CapabilityNotAdvertised(AcpError):
    """The peer has not advertised a capability that a message needs. Nothing was sent."""

    def __init__(self, capability: str, method: str | None, reason: str, *, field: str | None = None) -> None:
        super().__init__(capability, method, reason)
        self.capability = capability
        """The name for `Peer.supports`: `session.load`, `mcp.http`."""
        self.method = method
        """The method to be sent, if it is known."""
        self.field = field
        """The field that needs the capability; None for the method itself."""
        self.reason = reason
        """Why the peer is taken not to support it."""

    def __str__(self) -> str:
        what = " of ".join(filter(None, (self.field, self.method))) or self.capability
        return f'{what}: {self.reason}. To send it anyway, pass assume={{"{self.capability}"}}'


@dataclass(frozen=True)
class RefusedServer:
    """An MCP server that an agent does not support, and the reason."""

    index: int
    """The index in the list."""
    name: str | None
    transport: str
    """`stdio`, `http`, `sse`, `acp`, or an unknown `type`."""
    capability: str | None
    """The capability that the agent would have to advertise; None for other reasons."""
    reason: str

    def __str__(self) -> str:
        """`search (http): the agent has not advertised …`."""
        return f"{self.name or f'mcpServers[{self.index}]'} ({self.transport}): {self.reason}"


class McpServersRefused(CapabilityNotAdvertised):
    """The agent does not support some MCP servers. Nothing was sent."""

    def __init__(self, refused: Sequence[RefusedServer], method: str | None = None) -> None:
        first = refused[0]
        super().__init__(first.capability or f"mcp.{first.transport}", method, first.reason, field="mcpServers")
        self.refused = tuple(refused)
        """The servers with the reasons."""

    def __str__(self) -> str:
        assumed = ", ".join(sorted({f'"{each.capability}"' for each in self.refused if each.capability}))
        advice = f". To send it anyway, pass assume={{{assumed}}}" if assumed else ""
        refused = "; ".join(map(str, self.refused))
        return f"{refused}{advice}; or leave them out with on_refusal='drop'"


class AuthMethodRefused(AcpError):
    """The login method is not available with `authenticate` (`auth/login` in v2). Nothing was sent."""

    def __init__(self, method_id: str, reason: str, advertised: Collection[str]) -> None:
        super().__init__(method_id, reason, tuple(advertised))
        self.method_id = method_id
        self.reason = reason
        self.advertised = tuple(advertised)
        """The ids of the methods that are available."""

    def __str__(self) -> str:
        others = f"; available: {', '.join(self.advertised)}" if self.advertised else ""
        return f'authentication method "{self.method_id}": {self.reason}{others}'


class EndlessListing(AcpError):
    """A page of `session/list` has the cursor of an earlier page and no new sessions."""

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.pages = pages
        """The number of pages received."""

    def __str__(self) -> str:
        return f"session/list does not end: after {self.pages} pages the agent repeats a cursor"


class SessionIdReused(AcpError):
    """An agent gave a new session the id of another session, so their updates cannot be distinguished."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return (
            f'the agent gave a new session the id "{self.session_id}" of another session; their updates cannot be '
            "distinguished, so do not use either"
        )


class RequestError(AcpError):
    """An error response: raised by a handler, or created by `error_from`.

    Args:
        code: the code, as defined by JSON-RPC and ACP.
        message: the problem, in a sentence.
        data: any JSON value with details. Only the issues of a `DecodeError` in it are shown, because a peer may put
            anything there.
    """

    def __init__(self, code: int, message: str, *, data: Any = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        """`Resource not found (-32002)`."""
        return f"{self.message} ({self.code}){issues_in(self.data)}"

    def as_error(self, protocol: ProtocolPackage) -> Any:
        """Return the `Error` object of a protocol package for `Codec.fail`."""
        package: Any = protocol
        more = {} if self.data is None else {"data": self.data}
        return decode(package.Error, encode({"code": self.code, "message": self.message, **more}))


class NotInitialized(RequestError):
    """A message was received, or was to be sent, before `initialize` was answered."""

    def __init__(self, method: str) -> None:
        super().__init__(INVALID_REQUEST, f"{method} came before initialize was answered")
        self.method = method


class InitializedAlready(RequestError):
    """`initialize` was repeated while it was being answered, or in v2 after another request."""

    def __init__(self, reason: str) -> None:
        super().__init__(INVALID_REQUEST, f"initialize came again {reason}")


class MethodNotAdvertised(RequestError):
    """A request needs a capability that was not advertised to its sender."""

    def __init__(self, method: str, capability: str) -> None:
        super().__init__(METHOD_NOT_FOUND, f"{method} is not available: {capability} was not advertised")
        self.method = method
        self.capability = capability


class InvalidParams(RequestError):
    """A field of the params breaks a rule that is not in the schema."""

    def __init__(self, message: str, *, data: Any = None, issues: Sequence[Issue] = ()) -> None:
        super().__init__(INVALID_PARAMS, message, data=data)
        self.issues = tuple(issues)
        """The violations of the schema, if that is the reason."""


class BadProtocolVersion(InvalidParams):
    """A protocol version is not an ACP version (an integer from 0 to 65535).

    Or the agent has only repeated the requested version, and the rest of its response is of another.
    """

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(f"protocolVersion: {reason}")
        self.value = value
        """The invalid value; None if it is missing."""
        self.reason = reason
        """The likely meaning of the value, and what would be valid."""


class UnsupportedProtocolVersion(RequestError):
    """The two sides have no protocol version in common. A client should close the connection and inform the user.

    Args:
        requested: the latest version of the client, if it is known.
        answered: the version in the agent's response; None if the agent refused.
        supported: the versions of the side that refuses.
    """

    def __init__(self, *, requested: int | None, answered: int | None, supported: Collection[int]) -> None:
        self.requested = requested
        self.answered = answered
        self.supported = tuple(sorted(supported))
        known = ", ".join(map(str, self.supported))
        if answered is None:
            versions = f"; it supports {known}" if known else ", and did not say which versions it supports"
            message = f"the agent does not support ACP version {requested}{versions}"
        else:
            message = f"the agent chose ACP version {answered}; the client requested {requested} and supports {known}"
        data = {"requested": requested, "supported": list(self.supported)}
        super().__init__(UNSUPPORTED_VERSION, message, data=data)


class AuthRequired(RequestError):
    """The agent requires login."""

    def __init__(
        self, message: str = "Authentication required", *, methods: Sequence[AuthMethod] = (), data: Any = None
    ) -> None:
        super().__init__(AUTH_REQUIRED, message, data=data)
        self.methods = tuple(methods)
        """The login methods that the agent has advertised; set by `error_from`."""

    def __str__(self) -> str:
        names = ", ".join(f'"{each.name}"' for each in self.methods)
        return super().__str__() + (f"; log in with {names}" if names else "")


class SessionNotFound(RequestError):
    """The agent does not have this session."""

    def __init__(self, session_id: str | None = None, *, message: str = "Session not found", data: Any = None) -> None:
        named = {"sessionId": session_id} if session_id is not None else None
        super().__init__(NOT_FOUND, message, data=named if data is None else data)
        self.session_id = session_id

    def __str__(self) -> str:
        return super().__str__() + (f': "{self.session_id}"' if self.session_id is not None else "")

# ruff: noqa: N818 - the names say what is wrong, which a suffix would not
"""What can go wrong around the types: before anything is sent, and in what the other side answers.

AcpError
├── UnknownCapability (also a ValueError)     there is no capability of this name
├── CapabilityNotAdvertised                   the peer has not said that it can do this; nothing was sent
│   └── McpServersRefused                     it has not said so of some MCP servers
├── AuthMethodRefused                         `authenticate` is not for this method; nothing was sent
├── EndlessListing                            the pages of `session/list` go round in a circle
├── ServersMissing (also a ValueError)        a record has only the names of its MCP servers
├── SessionIdReused                           a new session has the id of another one
├── CommandNotFound (also a LookupError)      no program of this system is meant
├── OutsideRoots (also a PermissionError)     a path leads out of the directories of a session
└── RequestError                              what a request is answered with, received or to be sent: code and data
    ├── NotInitialized                        -32600  it came before `initialize` was settled
    ├── InitializedAlready                    -32600  `initialize` came again, when it could no more
    ├── MethodNotAdvertised                   -32601  its capability was not advertised
    ├── InvalidParams                         -32602  a member breaks a rule that the schema does not have
    │   ├── BadProtocolVersion                -32602  what stands for a version is none
    │   └── NotAbsolute (also a ValueError)   -32602  a path is not absolute
    ├── UnsupportedProtocolVersion            -32022  there is no version that both sides have
    ├── AuthRequired                          -32000  log in first
    └── SessionNotFound                       -32002  the agent has no such session

Those of sessions, paths and commands stand beside what raises them. A `RequestError` goes both ways: a handler raises
one to answer with it, and `error_from` makes one of the `RequestFailed` that a connection raises for such an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from acp_bindings._envelope import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from acp_bindings._json import items_of, members_of
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import AcpError, Issue, Path, at, few

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup.unions import AuthMethod

__all__ = ["one_line"]


Severity: TypeAlias = Literal["error", "warning", "info"]
"""Whether it breaks a rule, is likely to go wrong, or is only good to know."""


@dataclass(frozen=True)
class Remark:
    """One thing that most likely was not meant."""

    path: Path
    """The way to it in the message, by wire name and index; empty for the whole."""

    rule: str
    """What it is: `unknown-capability`, `relative-command`, …"""

    message: str
    """What is odd, and what to do. It holds no secret: no value of `env` or `headers`, no query of a URL."""

    severity: Severity = "warning"

    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it is about, by name, as JSON has it."""

    def __str__(self) -> str:
        """`agentCapabilities.mcp: there is no such capability; did you mean mcpCapabilities?`."""
        return f"{at(self.path)}{self.message}"


_MOST = 200


def one_line(text: str) -> str:
    """*text* in letters that any log takes, line breaks escaped, and cut off where it is long."""
    short = text if len(text) <= _MOST else text[:_MOST] + "…"
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in short)


def told_in(data: object) -> str:
    """`: mcpServers[0].headers: Field required`, where *data* has issues as this package answers with; else nothing.

    Nothing else of *data* is shown: nobody knows what a peer puts there.
    """
    told = few([one_line(str(issue)) for issue in _issues(data)])
    return f": {told}" if told else ""


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
"""The codes that ACP has beside those of JSON-RPC (`ErrorCode`)."""


class UnknownCapability(AcpError, ValueError):
    """There is no capability of this name on this side, so that no peer supports it: most likely a slip of the pen."""

    def __init__(self, name: str, guess: str | None = None, side: Literal["agent", "client"] | None = None) -> None:
        super().__init__(name, guess, side)
        self.name = name
        self.guess = guess
        """The name that was likely meant."""
        self.side = side
        """The other side, where that has a capability of this name."""

    def __str__(self) -> str:
        """The name, and whose it is or what was likely meant."""
        if self.side:
            asked = "agent" if self.side == "client" else "client"
            return f'"{self.name}" is a capability of the {self.side}, not of the {asked}'
        return f'there is no capability "{self.name}"' + (f'; did you mean "{self.guess}"?' if self.guess else "")


class CapabilityNotAdvertised(AcpError):
    """The peer has not said that it can do this, so that it must not be asked to. Nothing was sent."""

    def __init__(self, capability: str, method: str | None, reason: str, *, field: str | None = None) -> None:
        super().__init__(capability, method, reason)
        self.capability = capability
        """Its name, as `Peer.supports` takes it: `session.load`, `mcp.http`."""
        self.method = method
        """What was to be sent, where that is known."""
        self.field = field
        """The member of it that needs the capability; None for the method itself."""
        self.reason = reason
        """What the peer said, or did not say."""

    def __str__(self) -> str:
        """What cannot be sent, why, and how to send it all the same."""
        what = " of ".join(filter(None, (self.field, self.method))) or self.capability
        return f'{what}: {self.reason}. If you know better, say assume={{"{self.capability}"}}'


@dataclass(frozen=True)
class RefusedServer:
    """An MCP server that an agent cannot be given, and why."""

    index: int
    """Where it stands in the list."""
    name: str | None
    transport: str
    """`stdio`, `http`, `sse`, `acp`, or what stands in its `type`."""
    capability: str | None
    """What the agent would have to advertise; None where something else is wrong with the server."""
    reason: str

    def __str__(self) -> str:
        """`search (http): the agent has not advertised …`."""
        return f"{self.name or f'mcpServers[{self.index}]'} ({self.transport}): {self.reason}"


class McpServersRefused(CapabilityNotAdvertised):
    """Some MCP servers cannot be given to the agent. Nothing was sent."""

    def __init__(self, refused: Sequence[RefusedServer], method: str | None = None) -> None:
        first = refused[0]
        super().__init__(first.capability or f"mcp.{first.transport}", method, first.reason, field="mcpServers")
        self.refused = tuple(refused)
        """Each, with its reason."""

    def __str__(self) -> str:
        """Every server with its reason, and what to do."""
        assumed = ", ".join(sorted({f'"{each.capability}"' for each in self.refused if each.capability}))
        advice = f". If you know better, say assume={{{assumed}}}" if assumed else ""
        return (
            f"{'; '.join(map(str, self.refused))}{advice}; or leave them out by gate_mcp_servers(…, on_refusal='drop')"
        )


class AuthMethodRefused(AcpError):
    """`authenticate` (`auth/login` in v2) is not for this method. Nothing was sent."""

    def __init__(self, method_id: str, reason: str, advertised: Collection[str]) -> None:
        super().__init__(method_id, reason, tuple(advertised))
        self.method_id = method_id
        self.reason = reason
        self.advertised = tuple(advertised)
        """The ids of the methods that the agent has advertised and that `authenticate` is for."""

    def __str__(self) -> str:
        """The method, what is wrong with it, and which could be taken."""
        others = f"; it has {', '.join(self.advertised)}" if self.advertised else ""
        return f'authentication method "{self.method_id}": {self.reason}{others}'


class EndlessListing(AcpError):
    """A page of `session/list` named a cursor that an earlier one had named, and brought no new session."""

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.pages = pages
        """How many pages came."""

    def __str__(self) -> str:
        """How many pages came, and what is wrong."""
        return f"session/list goes round in a circle: after {self.pages} pages the agent names a cursor again"


class SessionIdReused(AcpError):
    """An agent gave a new session the id of another session, so their updates cannot be told apart."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return (
            f'the agent gave a new session the id "{self.session_id}" of another session; their updates cannot be told '
            "apart, so do not use either"
        )


class RequestError(AcpError):
    """What a request is answered with in place of a result: raised by its handler, or what `error_from` makes of it.

    Args:
        code: as JSON-RPC and ACP number it.
        message: what went wrong, in a sentence.
        data: any JSON value that says more. It is not shown, but for the issues of a `DecodeError` in it: nobody knows
            what a peer puts there.
    """

    def __init__(self, code: int, message: str, *, data: Any = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        """`Resource not found (-32002)`."""
        return f"{self.message} ({self.code}){told_in(self.data)}"

    def as_error(self, protocol: ProtocolPackage) -> Any:
        """The `Error` of a protocol package that says so, as `Codec.fail` takes it."""
        package: Any = protocol
        more = {} if self.data is None else {"data": self.data}
        return decode(package.Error, encode({"code": self.code, "message": self.message, **more}))


class NotInitialized(RequestError):
    """A message came, or was to be sent, before `initialize` was settled."""

    def __init__(self, method: str) -> None:
        super().__init__(INVALID_REQUEST, f"{method} came before initialize was answered")
        self.method = method


class InitializedAlready(RequestError):
    """`initialize` came again: while it was being answered, or in v2 after another request."""

    def __init__(self, reason: str) -> None:
        super().__init__(INVALID_REQUEST, f"initialize came again {reason}")


class MethodNotAdvertised(RequestError):
    """A request came whose capability was not advertised to the one who sends it."""

    def __init__(self, method: str, capability: str) -> None:
        super().__init__(METHOD_NOT_FOUND, f"{method} is not available: {capability} was not advertised")
        self.method = method
        self.capability = capability


class InvalidParams(RequestError):
    """A member of the params breaks a rule that the schema does not have."""

    def __init__(self, message: str, *, data: Any = None, issues: Sequence[Issue] = ()) -> None:
        super().__init__(INVALID_PARAMS, message, data=data)
        self.issues = tuple(issues)
        """What is wrong by the schema, where that is it."""


class BadProtocolVersion(InvalidParams):
    """What stands for a protocol version is no version of ACP, which are integers from 0 to 65535.

    Or it is one, and the agent has only repeated it: the rest of its answer is of another.
    """

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(f"protocolVersion: {reason}")
        self.value = value
        """What stood there; None also where nothing did."""
        self.reason = reason
        """What it looks like, and what would have been right."""


class UnsupportedProtocolVersion(RequestError):
    """There is no protocol version that both sides have. A client closes the connection and tells its user.

    Args:
        requested: the latest version of the client, where it is known.
        answered: the version that the agent answered with; None where it refused.
        supported: the versions of the side that refuses: of the client an answer, of the agent a request.
    """

    def __init__(self, *, requested: int | None, answered: int | None, supported: Collection[int]) -> None:
        self.requested = requested
        self.answered = answered
        self.supported = tuple(sorted(supported))
        known = ", ".join(map(str, self.supported)) or "none that it names"
        if answered is None:
            message = f"ACP version {requested} is not supported by the agent, which has {known}"
        else:
            message = f"the agent answered with ACP version {answered}; we asked for {requested} and have {known}"
        data = {"requested": requested, "supported": list(self.supported)}
        super().__init__(UNSUPPORTED_VERSION, message, data=data)


class AuthRequired(RequestError):
    """The agent wants somebody to log in first."""

    def __init__(
        self, message: str = "Authentication required", *, methods: Sequence[AuthMethod] = (), data: Any = None
    ) -> None:
        super().__init__(AUTH_REQUIRED, message, data=data)
        self.methods = tuple(methods)
        """The ways to do so that the agent advertised; a client has them from `error_from`."""

    def __str__(self) -> str:
        """The message, and the names of the methods."""
        names = ", ".join(f'"{each.name}"' for each in self.methods)
        return super().__str__() + (f"; log in with {names}" if names else "")


class SessionNotFound(RequestError):
    """The agent has no such session."""

    def __init__(self, session_id: str | None = None, *, message: str = "Session not found", data: Any = None) -> None:
        told = {"sessionId": session_id} if session_id is not None else None
        super().__init__(NOT_FOUND, message, data=told if data is None else data)
        self.session_id = session_id

    def __str__(self) -> str:
        """The message, and the id."""
        return super().__str__() + (f': "{self.session_id}"' if self.session_id is not None else "")

"""The handshake: negotiates the protocol version and exchanges capabilities.

    client = ClientHandshake(info=v1.Implementation(name="my-client", version="1.0"), capabilities={"terminal"})
    agent = AgentHandshake(info=v1.Implementation(name="my-agent", version="1.0"), capabilities={"session.load"})

    settled = agent.answer(json_of(client.request()))
    peer = client.accept(json_of(settled.result))

Capabilities have the names of `acp_bindings.setup.capabilities` and are written in the form of each version. A client
that supports v1 and v2 writes both forms in one request, because an agent of v1 reads only its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast

from pydantic import BaseModel
from pydantic_core import from_json

from acp_bindings._json import members_of
from acp_bindings._models.base import known_member
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.jsonrpc import CANCEL, ProtocolPackage
from acp_bindings.messages import BadResponse, ErrorResponse, Id, Message, Notification, Request, Response
from acp_bindings.methods import Method, Methods, NotificationType, RequestType
from acp_bindings.setup._auth import auth_methods_for, checked_methods, login_remarks
from acp_bindings.setup._peer import WORDS, AgentPeer, ClientPeer, parsed
from acp_bindings.setup._versions import by_version, name_of, negotiate, read_version, version_of
from acp_bindings.setup.capabilities import V2_BASELINE, AgentCapability, ClientCapability, Side, has_word, written
from acp_bindings.setup.errors import InitializedAlready, InvalidParams, NotInitialized

if TYPE_CHECKING:
    from acp_bindings.setup.unions import AuthMethod, Implementation, InitializeRequest, InitializeResponse


C = TypeVar("C", bound=str)


class _Handshake(Generic[C]):
    """One side of `initialize`, described for each version that it supports."""

    _side: ClassVar[Side]

    def __init__(
        self,
        *,
        info: Implementation | None = None,
        anonymous: bool = False,
        protocols: Sequence[ProtocolPackage] | None = None,
        capabilities: Collection[C] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe this side.

        Args:
            info: its name and version, an `Implementation` of any protocol package.
            anonymous: leave `info` out. The specification advises against it, and v2 does not allow it.
            protocols: the supported packages, one for each version; by default only `v1`.
            capabilities: the names of the supported capabilities, such as `fs.read_text_file` of a client. All others
                are advertised as not supported.
            meta: custom capabilities: the `_meta` of the capabilities, with keys such as `example.com`.

        Raises:
            UnknownCapability: this side does not have such a capability.
            TypeError: *info* is not an `Implementation`, *protocols* is not a list, or *capabilities* is not a set.
            ValueError: *info* is missing without *anonymous*; none of the *protocols* has a capability; or *protocols*
                is empty or contains two packages of one version.
        """
        if isinstance(capabilities, str):
            raise TypeError(f"capabilities must be a set of names: {{{capabilities!r}}}")
        if isinstance(capabilities, BaseModel):
            raise TypeError(
                f'capabilities must be a set of names, such as {{"auth.logout"}}, which are the same in all versions, '
                f"not {type(capabilities).__name__}"
            )
        if protocols is None:
            from acp_bindings import v1  # noqa: PLC0415 - packages are loaded only when they are used

            protocols = (v1,)
        self._protocols = by_version(protocols)
        self._info = info
        self._capabilities = frozenset(capabilities)
        self._meta = meta
        if info is not None and not _is_implementation(info):
            raise TypeError("info must be an Implementation, such as v1.Implementation(name=…, version=…)")
        if info is None and not anonymous:
            raise ValueError("info is missing: pass info=v1.Implementation(name=…, version=…), or anonymous=True")
        if info is None and max(self._protocols) > 1:
            raise ValueError("v2 requires info; pass info=…, or offer only v1")
        for name in sorted(self._capabilities):
            if not any(has_word(each, self._side, name) for each in self._protocols.values()):
                offered = ", ".join(map(name_of, self._protocols.values()))
                raise ValueError(f"{offered} does not have the capability {name}; use another protocol package")

    def _part(self, protocol: ProtocolPackage) -> dict[str, Any]:
        """Return the fields of `initialize` with the info and the capabilities."""
        capabilities, info = WORDS[self._side][version_of(protocol)]
        fields: dict[str, Any] = {capabilities: {}}
        fields |= written(protocol, self._side, self._capabilities)
        if self._meta is not None:
            fields[capabilities]["_meta"] = dict(self._meta)
        if self._info is not None:
            fields[info] = from_json(encode(self._info))
        return fields


class ClientHandshake(_Handshake[ClientCapability]):
    """The client side of `initialize`."""

    _side = "client"

    @property
    def requested(self) -> int:
        """The requested version: the latest one."""
        return max(self._protocols)

    def request(self) -> InitializeRequest:
        """Return the params of `initialize`, of the latest package, with the fields of the earlier versions.

        A codec with the protocol `OPENING` sends it unchanged.
        """
        message: dict[str, Any] = {"protocolVersion": self.requested}
        for protocol in self._protocols.values():
            message |= self._part(protocol)
        newest: Any = self._protocols[self.requested]
        request: InitializeRequest = decode(newest.InitializeRequest, message)
        return request

    def accept(self, result: Any) -> AgentPeer:
        """Return the agent that responded with *result*. Use `AgentPeer.protocol` from now on.

        Args:
            result: the JSON of the response, as a string or parsed.

        Returns:
            The agent. Its `findings` include login methods that it should not have offered to this client.

        Raises:
            UnsupportedProtocolVersion: the client does not support the version that the agent chose. Close the
                connection and inform the user.
            BadProtocolVersion: the version is not valid, or the agent has only repeated it. Connect again and offer the
                version in the message.
            DecodeError: the response is not valid in its version.
        """
        agent = AgentPeer.read(result, tuple(self._protocols.values()), requested=self.requested)
        return replace(agent, findings=(*agent.findings, *login_remarks(agent, self.own(agent.protocol))))

    def own(self, protocol: ProtocolPackage) -> ClientPeer:
        """Return this client as an agent with the negotiated *protocol* sees it, to check its requests."""
        message = {"protocolVersion": version_of(protocol)} | self._part(protocol)
        return ClientPeer.of(protocol, decode(cast("Any", protocol).InitializeRequest, message))


class Settled(NamedTuple):
    """The result of `initialize` for an agent."""

    result: InitializeResponse
    """The response to send."""
    client: ClientPeer
    """The client."""
    agent: AgentPeer
    """The agent as the client sees it, to check its requests."""

    @property
    def protocol(self) -> ProtocolPackage:
        """The negotiated protocol package."""
        return self.client.protocol


class AgentHandshake(_Handshake[AgentCapability]):
    """The agent side of `initialize`."""

    _side = "agent"

    def __init__(
        self,
        *,
        info: Implementation | None = None,
        anonymous: bool = False,
        protocols: Sequence[ProtocolPackage] | None = None,
        capabilities: Collection[AgentCapability] = (),
        auth_methods: Sequence[AuthMethod] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe the agent. See `ClientHandshake` for details of the common arguments and for other errors.

        Args:
            info: its name and version.
            anonymous: leave `info` out.
            protocols: the supported packages.
            capabilities: the names of the supported capabilities, such as `session.load` and `mcp.http`.
            auth_methods: the authentication methods, of any protocol package. Those for a terminal are only offered to
                clients that support it.
            meta: custom capabilities.

        Raises:
            TypeError: also if one of the *auth_methods* is not an object.
            ValueError: also if v2 is among the *protocols*, and *capabilities* contains one of sessions, but not all
                that every v2 agent with sessions must have.
        """
        super().__init__(info=info, anonymous=anonymous, protocols=protocols, capabilities=capabilities, meta=meta)
        of_sessions = {name for name in capabilities if name.startswith(("session", "mcp.", "prompt."))}
        missing = V2_BASELINE - self._capabilities
        if of_sessions and missing and max(self._protocols) > 1:
            raise ValueError(
                f"in v2 every agent with sessions has {', '.join(sorted(missing))}; add them, or do not offer v2"
            )
        if "auth.login" in capabilities and not auth_methods:
            raise ValueError("the capability auth.login requires auth_methods")
        self._auth_methods = checked_methods(auth_methods)

    @property
    def protocols(self) -> Mapping[int, ProtocolPackage]:
        """The supported package of each version."""
        return self._protocols

    def answer(self, params: Any) -> Settled:
        """Return the response to `initialize` with *params*, and the client.

        The version is negotiated by the rule of v1 if the agent supports nothing newer, otherwise by that of v2. If the
        client requested a newer version, its params are read leniently, because they may have another form there.

        Args:
            params: JSON, as a string or parsed.

        Raises:
            InvalidParams: the params are not valid in their version, or do not have one (`BadProtocolVersion`). Respond
                with the error, and wait for another `initialize`.
            UnsupportedProtocolVersion: by the rule of v2, there is no version to respond with.
        """
        try:
            raw = parsed(params)
            version = negotiate(read_version(raw), self._protocols)
            client = ClientPeer.read(raw, self._protocols[version])
        except DecodeError as error:
            raise InvalidParams(f"Invalid params: {'; '.join(map(str, error.issues))}", issues=error.issues) from None
        protocol: Any = client.protocol
        methods = auth_methods_for(client, self._auth_methods)
        message = {"protocolVersion": client.version} | self._part(protocol)
        message["authMethods"] = from_json(encode(methods))
        result = decode(protocol.InitializeResponse, message)
        return Settled(result, client, AgentPeer.of(protocol, result))


def _is_implementation(info: object) -> bool:
    """Return True for an `Implementation` of any package, without loading one."""
    return isinstance(info, BaseModel) and any(each.__name__ == "Implementation" for each in type(info).__mro__)


Phase: TypeAlias = Literal["new", "initializing", "ready"]
"""Before `initialize`, while it is being answered, and after that."""

_INITIALIZE = frozenset({"initialize", "proxy/initialize"})


class Lifecycle:
    """Checks the order of messages: `initialize` and its response first, then everything else.

        lifecycle = Lifecycle()
        lifecycle.see("client", request)  # raises if the request is not allowed yet
        lifecycle.see("agent", response)

    After a failed `initialize`, it may be repeated. After a successful one, it may be repeated in v1; in v2 only after
    its response and before any other request.
    """

    def __init__(self) -> None:
        """Start with a new connection."""
        self.phase: Phase = "new"
        self.version: int | None = None
        """The negotiated version; None before that."""
        self._open: Id | None = None
        self._asked = False

    @property
    def is_ready(self) -> bool:
        """True if all messages are allowed."""
        return self.phase == "ready"

    def check(self, method: str, *, sender: Side = "client") -> None:
        """Raise if a message is not allowed now, without recording it.

        Args:
            method: the method of the request or notification.
            sender: the sender.

        Raises:
            NotInitialized: `initialize` has not been answered. An agent responds to a request with this error (-32600)
                and ignores a notification.
            InitializedAlready: `initialize` must not be repeated.
        """
        if method == CANCEL:
            return
        if method not in _INITIALIZE or sender == "agent":
            if self.phase != "ready":
                raise NotInitialized(method)
        elif self.phase == "initializing":
            raise InitializedAlready("while it was being answered")
        elif self.version is not None and self.version > 1 and self._asked:
            raise InitializedAlready("after other requests")

    def request(self, method: str, id: Id, *, sender: Side = "client") -> None:  # noqa: A002
        """Record a request of *sender*. Arguments and errors are those of `check`."""
        self.check(method, sender=sender)
        if sender == "client" and method in _INITIALIZE:
            self.phase, self._open = "initializing", id
        elif sender == "client":
            self._asked = True

    def response(self, id: Id, *, sender: Side = "agent", version: int | None = None) -> None:  # noqa: A002
        """Record a response of *sender*.

        Args:
            id: the id of the request.
            sender: the sender of the response.
            version: the `protocolVersion` in the response to `initialize`; None if it failed.
        """
        if sender != "agent" or self.phase != "initializing" or id != self._open:
            return
        if version is not None:
            self.version = version
        self.phase = "new" if self.version is None else "ready"

    def see(self, sender: Side, message: Message) -> None:
        """Record any *message* that a codec has read. Errors are those of `check`."""
        match message:
            case Request(id=id_, method=method):
                self.request(method, id_, sender=sender)
            case Notification(method=method):
                self.check(method, sender=sender)
            case Response(id=id_, result=result):
                self.response(id_, sender=sender, version=version_in(result))
            case ErrorResponse(id=id_) | BadResponse(id=id_):
                self.response(id_, sender=sender)
            case _:
                pass


def version_in(message: Any) -> int | None:
    """Return the `protocolVersion` of params or a result of `initialize`, as JSON or as an object; None without one."""
    version: object = members_of(message).get("protocolVersion", known_member(message, "protocol_version"))
    return version if type(version) is int else None


INITIALIZE = "initialize"


class _Untyped(Methods):
    """All methods, with untyped params."""

    def __getitem__(self, name: str) -> Method:
        """Return the method *name*, for both sides."""
        return Method(_request(name), NotificationType(__name__, name, "protocol", "JSON"))

    def request_with(self, params: object) -> RequestType | None:
        """Return `initialize`, the only method whose params may be a model before the handshake."""
        return _request(INITIALIZE) if type(params).__name__ == "InitializeRequest" else None


class _Opening:
    """A protocol package of untyped methods, with the errors and ids of v1. These are the same in v2, except for null.

    So an `initialize` with the id null gets a response with that id, also if the negotiated version is v2.
    """

    METHODS: Methods = _Untyped(f"{__name__}.methods", requests={}, notifications={})

    @property
    def Error(self) -> Any:  # noqa: N802
        from acp_bindings import v1  # noqa: PLC0415 - packages are loaded only when they are used

        return v1.Error

    @property
    def RequestId(self) -> Any:  # noqa: N802
        from acp_bindings import v1  # noqa: PLC0415

        return v1.RequestId


JSON = Any


def _request(name: str) -> RequestType:
    return RequestType(__name__, name, "protocol", "JSON", None)


OPENING: ProtocolPackage = _Opening()
"""The protocol of a connection before the version is negotiated."""

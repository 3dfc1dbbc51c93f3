"""How the two sides of a connection settle on a version and tell each other what they can do; no I/O.

    client = ClientHandshake(info=v1.Implementation(name="my-client", version="1.0"), capabilities={"terminal"})
    agent = AgentHandshake(info=v1.Implementation(name="my-agent", version="1.0"), capabilities={"session.load"})

    settled = agent.answer(json_of(client.request()))
    peer = client.accept(json_of(settled.result))

What each side can do is said once, by the names of `acp_bindings.setup.capabilities`, and written as each version wants
it. A client that speaks both v1 and v2 says it in both ways in one request, since an agent of v1 reads only its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from pydantic import BaseModel
from pydantic_core import from_json

from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.jsonrpc import CANCEL, ProtocolPackage
from acp_bindings.messages import BadResponse, ErrorResponse, Id, Message, Notification, Request, Response
from acp_bindings.methods import Method, Methods, NotificationType, RequestType
from acp_bindings.setup._auth import auth_methods_for, login_remarks
from acp_bindings.setup._peer import WORDS, AgentPeer, ClientPeer, message_type, parsed
from acp_bindings.setup._versions import by_version, name_of, negotiate, read_version, version_of
from acp_bindings.setup.capabilities import V2_BASELINE, Side, has_word, written
from acp_bindings.setup.errors import InitializedAlready, InvalidParams, NotInitialized

if TYPE_CHECKING:
    from acp_bindings.setup.unions import AuthMethod, Implementation, InitializeRequest, InitializeResponse


class ClientHandshake:
    """The client's part of `initialize`."""

    def __init__(
        self,
        *,
        info: Implementation | None = None,
        anonymous: bool = False,
        protocols: Sequence[ProtocolPackage] | None = None,
        capabilities: Collection[str] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """What a client is going to say.

        Args:
            info: its name and version, of any protocol package.
            anonymous: say nothing of that. The specification advises against it, and v2 does not allow it.
            protocols: the packages that it speaks, one for each version; `v1` alone unless said otherwise.
            capabilities: the names of what it can do, such as `fs.read_text_file`. Whatever is not among them it says
                that it cannot do.
            meta: custom capabilities: the `_meta` of its capabilities, whose keys are for names such as `example.com`.

        Raises:
            UnknownCapability: there is no such capability of a client.
            TypeError: *info* is no `Implementation`; *protocols* is no list, or *capabilities* no set of names.
            ValueError: there is no *info*, and *anonymous* was not asked for; none of the *protocols* has a word for a
                capability; or they are two of one version, or none.
        """
        self._said = _Said(
            "client", info=info, anonymous=anonymous, protocols=protocols, capabilities=capabilities, meta=meta
        )

    @property
    def requested(self) -> int:
        """The version that it asks for: its latest."""
        return max(self._said.protocols)

    def request(self) -> InitializeRequest:
        """The params of `initialize`, of the latest of the packages, with what earlier versions want to see beside.

        A codec that speaks `OPENING` sends it as it is.
        """
        message: dict[str, Any] = {"protocolVersion": self.requested}
        for protocol in self._said.protocols.values():
            message |= self._said.part(protocol)
        newest: Any = self._said.protocols[self.requested]
        request: InitializeRequest = decode(newest.InitializeRequest, message)
        return request

    def accept(self, result: Any) -> AgentPeer:
        """The agent that answered with *result*; the caller speaks `AgentPeer.protocol` with it from now on.

        Args:
            result: the JSON of the answer, as text or parsed, which its own version says how to read.

        Returns:
            The agent, among whose `findings` are also the ways to log in that it should not have offered us.

        Raises:
            UnsupportedProtocolVersion: we do not speak the version that the agent chose. Close the connection, and
                tell the user.
            BadProtocolVersion: what stands for the version is none, or one that the agent has only repeated. Connect
                again, and offer the version that is named there.
            DecodeError: the answer is none of its version.
        """
        agent = AgentPeer.read(result, tuple(self._said.protocols.values()), requested=self.requested)
        return replace(agent, findings=(*agent.findings, *login_remarks(agent, self.own(agent.protocol))))

    def own(self, protocol: ProtocolPackage) -> ClientPeer:
        """What an agent with which we have settled on *protocol* knows of us, by which its requests can be checked."""
        message = {"protocolVersion": version_of(protocol)} | self._said.part(protocol)
        return ClientPeer.of(protocol, decode(cast("Any", protocol).InitializeRequest, message))


class Settled(NamedTuple):
    """What `initialize` came to, for an agent."""

    result: InitializeResponse
    """The answer to send."""
    client: ClientPeer
    """Who asked."""
    agent: AgentPeer
    """What the client knows of us from the answer, by which its requests can be checked."""

    @property
    def protocol(self) -> ProtocolPackage:
        """The package whose types both sides speak from now on."""
        return self.client.protocol


class AgentHandshake:
    """The agent's part of `initialize`."""

    def __init__(
        self,
        *,
        info: Implementation | None = None,
        anonymous: bool = False,
        protocols: Sequence[ProtocolPackage] | None = None,
        capabilities: Collection[str] = (),
        auth_methods: Sequence[AuthMethod] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """What an agent is going to say.

        Args:
            info: its name and version, of any protocol package.
            anonymous: say nothing of that. The specification advises against it, and v2 does not allow it.
            protocols: the packages that it speaks, one for each version; `v1` alone unless said otherwise.
            capabilities: the names of what it can do, such as `session.load` and `mcp.http`. Whatever is not among them
                it says that it cannot do.
            auth_methods: the ways to log in, of any protocol package; a client that cannot do so is not offered those
                in a terminal.
            meta: custom capabilities: the `_meta` of its capabilities, whose keys are for names such as `example.com`.

        Raises:
            UnknownCapability: there is no such capability of an agent.
            TypeError: as for `ClientHandshake`.
            ValueError: as for `ClientHandshake`; or v2 is among the *protocols*, and a capability of sessions is there
                but not all that v2 takes for granted then.
        """
        self._said = _Said(
            "agent", info=info, anonymous=anonymous, protocols=protocols, capabilities=capabilities, meta=meta
        )
        if "auth.login" in self._said.capabilities and not auth_methods:
            raise ValueError("an agent says that one can log in by its auth_methods; there are none")
        self._auth_methods = tuple(auth_methods)

    def answer(self, params: Any) -> Settled:
        """What to answer to an `initialize` with *params*, and who asked.

        By the rule of v1 for agents that have nothing newer, by that of v2 otherwise (`negotiate`). A client that asks
        for more than it gets is read leniently: what it wrote for a newer version may look different there.

        Args:
            params: JSON, as text or parsed.

        Raises:
            InvalidParams: they are none of the version that they name, or name none (`BadProtocolVersion`). Answer with
                the code of the error, and wait for a better `initialize`.
            UnsupportedProtocolVersion: by the rule of v2 there is no version to answer with.
        """
        try:
            raw = parsed(params)
            version = negotiate(read_version(raw), self._said.protocols)
            client = ClientPeer.read(raw, self._said.protocols[version])
        except DecodeError as error:
            raise InvalidParams(f"Invalid params: {'; '.join(map(str, error.issues))}", issues=error.issues) from None
        return self._settle(client)

    def _settle(self, client: ClientPeer) -> Settled:
        protocol: Any = client.protocol
        methods = auth_methods_for(client, self._auth_methods)
        message = {"protocolVersion": client.version} | self._said.part(protocol)
        message["authMethods"] = from_json(encode(methods))
        result = decode(protocol.InitializeResponse, message)
        return Settled(result, client, AgentPeer.of(protocol, result))


class _Said:
    """What one side says of itself, in the words of each version that it speaks."""

    def __init__(
        self,
        side: Side,
        *,
        info: Implementation | None,
        anonymous: bool,
        protocols: Sequence[ProtocolPackage] | None,
        capabilities: Collection[str],
        meta: Mapping[str, Any] | None,
    ) -> None:
        if isinstance(capabilities, str):
            raise TypeError(f"capabilities is a set of names: {{{capabilities!r}}}")
        if isinstance(capabilities, BaseModel):
            raise TypeError(
                f'capabilities is a set of names, such as {{"auth.logout"}}, that are the same in all versions; '
                f"{type(capabilities).__name__} is made of them"
            )
        self.side: Side = side
        self.protocols = by_version(_v1_alone() if protocols is None else protocols)
        self.info = info
        self.capabilities = frozenset(capabilities)
        self.meta = meta
        if info is not None and not _is_implementation(info):
            raise TypeError("info is an Implementation, such as v1.Implementation(name=…, version=…)")
        if info is None and not anonymous:
            raise ValueError("say who you are: info=v1.Implementation(name=…, version=…), or else anonymous=True")
        if info is None and max(self.protocols) > 1:
            raise ValueError("v2 knows nobody who is anonymous; offer v1 alone, or info=…")
        for name in sorted(self.capabilities):
            self._check(name)
        if side == "agent" and max(self.protocols) > 1:
            self._check_baseline()

    def part(self, protocol: ProtocolPackage) -> dict[str, Any]:
        """The members of a message of `initialize` that say who this is and what it can do."""
        version = version_of(protocol)
        capabilities, info = WORDS[self.side][version]
        said: dict[str, Any] = {capabilities: {}}
        said |= written(message_type(protocol, self.side), self.side, version, self.capabilities)
        if self.meta is not None:
            said[capabilities]["_meta"] = dict(self.meta)
        if self.info is not None:
            said[info] = from_json(encode(self.info))
        return said

    def _check(self, name: str) -> None:
        if not any(has_word(message_type(each, self.side), self.side, n, name) for n, each in self.protocols.items()):
            offered = ", ".join(map(name_of, self.protocols.values()))
            raise ValueError(f"{offered} has no word for {name}; is another protocol package meant?")

    def _check_baseline(self) -> None:
        of_sessions = {name for name in self.capabilities if name.startswith(("session", "mcp.", "prompt."))}
        missing = V2_BASELINE - self.capabilities
        if of_sessions and missing:
            raise ValueError(
                f"an agent that has sessions can do {', '.join(sorted(missing))} in v2 without saying so; "
                "name them too, or do not offer v2"
            )


def _is_implementation(info: object) -> bool:
    """Of any package, without loading another."""
    return isinstance(info, BaseModel) and any(each.__name__ == "Implementation" for each in type(info).__mro__)


def _v1_alone() -> Sequence[ProtocolPackage]:
    from acp_bindings import v1  # noqa: PLC0415 - packages are loaded by those who use them

    return (v1,)


Phase: TypeAlias = Literal["new", "initializing", "ready"]
"""Before `initialize`, while it is being answered, and after that."""

_INITIALIZE = frozenset({"initialize", "proxy/initialize"})


class Lifecycle:
    """The beginning of a connection: `initialize` first, answered, and then everything else.

        lifecycle = Lifecycle()
        lifecycle.see("client", request)  # raises where the request may not come now
        lifecycle.see("agent", response)

    A failed `initialize` leaves everything as it was, so that it may come again. When it was settled it may be repeated
    in v1; in v2 only before any other request, and only by a client that has got its answer.
    """

    def __init__(self) -> None:
        """A connection on which nothing has been said."""
        self.phase: Phase = "new"
        self.version: int | None = None
        """The version that `initialize` has settled on."""
        self._open: Id | None = None
        self._asked = False

    @property
    def is_ready(self) -> bool:
        """Whether any message may come."""
        return self.phase == "ready"

    def check(self, method: str, *, sender: Side = "client") -> None:
        """Refuse a message that may not come now. Nothing changes.

        Args:
            method: its method, of a request or of a notification.
            sender: who sends it.

        Raises:
            NotInitialized: `initialize` is not settled. To a request an agent answers with the code of the error
                (-32600), a notification it ignores.
            InitializedAlready: `initialize` comes again when it could no more.
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
        """Take into account that *sender* sends a request. Arguments and errors are those of `check`."""
        self.check(method, sender=sender)
        if sender == "client" and method in _INITIALIZE:
            self.phase, self._open = "initializing", id
        elif sender == "client":
            self._asked = True

    def response(self, id: Id, *, sender: Side = "agent", version: int | None = None) -> None:  # noqa: A002
        """Take into account that *sender* answers the request *id*.

        Args:
            id: that of the request.
            sender: who answers.
            version: the `protocolVersion` of the answer to `initialize`; None when that failed.
        """
        if sender != "agent" or self.phase != "initializing" or id != self._open:
            return
        if version is not None:
            self.version = version
        self.phase = "new" if self.version is None else "ready"

    def see(self, sender: Side, message: Message) -> None:
        """Take any *message* into account, as a codec reads it, untyped or typed. Errors are those of `check`."""
        match message:
            case Request(id=id_, method=method):
                self.request(method, id_, sender=sender)
            case Notification(method=method):
                self.check(method, sender=sender)
            case Response(id=id_, result=result):
                self.response(id_, sender=sender, version=_version_in(result))
            case ErrorResponse(id=id_) | BadResponse(id=id_):
                self.response(id_, sender=sender)
            case _:
                pass


def _version_in(result: Any) -> int | None:
    version: Any = (
        cast("dict[str, Any]", result).get("protocolVersion")
        if isinstance(result, dict)
        else getattr(result, "protocol_version", None)
    )
    return version if type(version) is int else None


INITIALIZE = "initialize"


class _Untyped(Methods):
    """Every method that there could be."""

    def __getitem__(self, name: str) -> Method:
        """The method *name*, which is for whoever gets it."""
        return Method(_request(name), _notification(name))

    def request_with(self, params: object) -> RequestType | None:
        """`initialize`, the one method whose params may be a model so early."""
        return _request(INITIALIZE) if type(params).__name__ == "InitializeRequest" else None


class _Opening:
    """A protocol package of untyped methods, with the errors and the ids of v1, which are those of v2 and null.

    So an `initialize` whose id is null is answered by that id also where it settles on v2, which has no null as an id.
    From then on a null is refused.
    """

    METHODS: Methods = _Untyped(f"{__name__}.methods", requests={}, notifications={})

    @property
    def Error(self) -> Any:  # noqa: N802
        from acp_bindings import v1  # noqa: PLC0415 - packages are loaded by those who use them

        return v1.Error

    @property
    def RequestId(self) -> Any:  # noqa: N802
        from acp_bindings import v1  # noqa: PLC0415

        return v1.RequestId


JSON = Any


def _request(name: str) -> RequestType:
    return RequestType(__name__, name, "protocol", "JSON", None)


def _notification(name: str) -> NotificationType:
    return NotificationType(__name__, name, "protocol", "JSON")


OPENING: ProtocolPackage = _Opening()
"""The protocol of a connection whose version is not settled yet."""

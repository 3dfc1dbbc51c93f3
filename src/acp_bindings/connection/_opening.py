"""The opening of a connection: `initialize`, and the rules that hold from there on, for clients and for agents.

A connection that speaks `OPENING` reads whatever comes; these settle it on the package of one version.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Never
from weakref import WeakKeyDictionary

from pydantic_core import from_json

from acp_bindings._models.base import Model
from acp_bindings.connection._handlers import Handle, Handler, Handlers
from acp_bindings.connection.errors import log
from acp_bindings.encoding import encode
from acp_bindings.messages import Notification, Request
from acp_bindings.setup._gates import check_message
from acp_bindings.setup._handshake import INITIALIZE, OPENING, Lifecycle
from acp_bindings.setup._paths import Flavour, check_flavour, check_paths
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.capabilities import METHODS
from acp_bindings.setup.errors import NotInitialized

if TYPE_CHECKING:
    from acp_bindings.connection._connection import Connection
    from acp_bindings.setup._handshake import AgentHandshake, ClientHandshake, Settled
    from acp_bindings.setup._peer import AgentPeer, Peer


async def initialize(connection: Connection, handshake: ClientHandshake, *, timeout: float | None = None) -> AgentPeer:
    """The agent at the other end, with which *connection* speaks `AgentPeer.protocol` from the next line on.

        async with connect_process(command, protocol=OPENING) as connection:
            agent = await initialize(connection, ClientHandshake(info=…, protocols=[v1, v2]))

    The log has a warning where the client advertises what it has no handler for.

    Args:
        connection: a client's, which speaks `OPENING`.
        handshake: what the client says.
        timeout: seconds for the answer; None for as long as it takes.

    Raises:
        UnsupportedProtocolVersion: the agent chose a version that the client does not speak. End the connection, and
            tell the user.
        BadProtocolVersion: the agent answered with what is no version, or repeated ours and speaks another.
        DecodeError: its answer is none of the version in it.
        RequestFailed: it answered with an error; `error_from` says what that means.
        TimedOut: it did not answer in time.
        ConnectionClosed: there is no agent any more.
        ValueError: the connection speaks a version already.
        TypeError: *handshake* is none of a client.
    """
    from acp_bindings.setup._handshake import ClientHandshake  # noqa: PLC0415 - who has one has loaded it

    if not isinstance(handshake, ClientHandshake):  # pyright: ignore[reportUnnecessaryIsInstance]
        _refuse_handshake("initialize takes a ClientHandshake", handshake)
    if connection.protocol is not OPENING:
        raise ValueError("the connection speaks a version already; make it with protocol=OPENING to settle on one here")

    def settle(result: Any) -> AgentPeer:
        # A text would be taken for JSON that is still to be read.
        agent = handshake.accept(encode(result) if isinstance(result, str) else result)
        connection.protocol = agent.protocol
        _warn_of_unhandled(handshake.own(agent.protocol), connection.handlers)
        return agent

    return await connection.request(handshake.request(), method=INITIALIZE, timeout=timeout, then=settle)


def _refuse_handshake(wanted: str, given: object) -> Never:
    from acp_bindings._json import kind_of  # noqa: PLC0415 - only errors need it

    raise TypeError(f"{wanted}, not {kind_of(given)}")


def _warn_of_unhandled(own: Peer, handlers: Handlers) -> None:
    """Tell whoever wrote it of what we have advertised, but would answer with "Method not found"."""
    lacking = [
        method
        for method, need in METHODS[own.side].items()
        # Not all that comes with sessions is for every agent: one without modes is never asked to set one.
        if need not in (None, "session") and method in own.protocol.METHODS
        if own.supports(need) and not handlers.handles(method)
    ]
    if lacking:
        log.warning("advertised, but nothing handles it: %s", ", ".join(lacking))


class AgentHandlers(Handlers):
    """The handlers of an agent, and before them the rules that all of its requests have to pass.

        handlers = AgentHandlers(AgentHandshake(info=…, protocols=[v1, v2], capabilities={"session.load"}))

        @handlers.on("session/new")
        async def new_session(request: NewSessionRequest, connection: Connection) -> Any: ...

        async with connect_stdio(protocol=OPENING, handlers=handlers) as connection: ...

    - `initialize` is answered by the handshake, which settles the version; `settled` has what came of it.
    - What comes before that is refused (`NotInitialized`), also `initialize` when it may not come again.
    - The log has a warning, once, where it advertises what it has no handler for.
    - What was not advertised is refused (`check_message`), and so is a path that is not absolute (`check_paths`).

    So a handler gets nothing that it need not answer. It may serve any number of connections.
    """

    _own = frozenset({INITIALIZE})

    def __init__(self, handshake: AgentHandshake, *, flavour: Flavour = "any") -> None:
        """The handlers of an agent that does nothing but the *handshake* yet; `on` adds what it can do.

        Args:
            handshake: what the agent says.
            flavour: whose paths it takes, those of the system it runs on.

        Raises:
            ValueError: there is no such *flavour*.
            TypeError: *handshake* is none of an agent.
        """
        from acp_bindings.setup._handshake import AgentHandshake  # noqa: PLC0415 - the same

        if not isinstance(handshake, AgentHandshake):  # pyright: ignore[reportUnnecessaryIsInstance]
            _refuse_handshake("AgentHandlers takes an AgentHandshake", handshake)
        check_flavour(flavour)
        super().__init__()
        self._handshake = handshake
        self._flavour: Flavour = flavour
        self._is_warned = False
        self._opened: WeakKeyDictionary[Connection, _Opened] = WeakKeyDictionary()

    def settled(self, connection: Connection) -> Settled:
        """What `initialize` came to on *connection*: who the client is, and what it knows of us.

        Raises:
            NotInitialized: it did not come yet; never in a handler of these.
        """
        opened = self._opened.get(connection)
        if opened is None or opened.settled is None:
            raise NotInitialized("what depends on it")
        return opened.settled

    def of(self, message: Request | Notification, connection: Connection) -> Handler | None:
        """What handles *message* by the rules, if anything does."""
        # Here, in the order in which things came; the handlers of requests run side by side.
        opened = self._opened.setdefault(connection, _Opened())
        if isinstance(message, Notification):
            return super().of(message, connection) if opened.lifecycle.is_ready else None
        if message.method == INITIALIZE:
            # When it comes again, it may be answered by another version than that by whose types it was read.
            message.type = None
            return Handler(partial(self._initialize, opened), waits=False, exclusive=True)
        try:
            opened.lifecycle.request(message.method, message.id)
        except NotInitialized as error:
            return Handler(partial(_refuse, error), waits=False, exclusive=False)
        handler = super().of(message, connection)
        return handler and replace(handler, handle=partial(self._checked, opened, message.method, handler.handle))

    def _initialize(self, opened: _Opened, params: Any, connection: Connection) -> Any:
        opened.lifecycle.check(INITIALIZE)
        settled = self._handshake.answer(from_json(encode(params)) if isinstance(params, Model) else params)
        opened.lifecycle.request(INITIALIZE, None)
        opened.lifecycle.response(None, version=version_of(settled.protocol))
        opened.settled = settled
        connection.protocol = settled.protocol
        if not self._is_warned:
            self._is_warned = True
            _warn_of_unhandled(settled.agent, self)
        return settled.result

    def _checked(self, opened: _Opened, method: str, handle: Handle[Any], params: Any, connection: Connection) -> Any:
        if opened.settled and isinstance(params, Model):
            check_message(opened.settled.agent, params, method=method, received=True)
            check_paths(params, flavour=self._flavour)
        return handle(params, connection)


@dataclass
class _Opened:
    """How far a connection has got."""

    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    settled: Settled | None = None


def _refuse(error: NotInitialized, params: Any, connection: Connection) -> Any:  # noqa: ARG001 - it is a handler
    raise error

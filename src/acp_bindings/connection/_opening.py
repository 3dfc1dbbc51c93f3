"""The handshake of a connection, for clients and agents, and the rules that an agent checks for each request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic_core import from_json

from acp_bindings._models.base import Model
from acp_bindings.connection._handlers import Handle, Handler, Handlers, package_name
from acp_bindings.connection.errors import log
from acp_bindings.encoding import encode
from acp_bindings.messages import Notification, Request
from acp_bindings.methods import NotificationType
from acp_bindings.setup._gates import check_message
from acp_bindings.setup._handshake import INITIALIZE, OPENING, Lifecycle
from acp_bindings.setup._paths import Flavour, check_flavour, check_paths
from acp_bindings.setup._versions import name_of, package_named, version_of
from acp_bindings.setup.capabilities import METHODS
from acp_bindings.setup.errors import NotInitialized

if TYPE_CHECKING:
    from acp_bindings.connection._connection import Connection
    from acp_bindings.setup._handshake import AgentHandshake, ClientHandshake, Settled
    from acp_bindings.setup._peer import AgentPeer, Peer


async def initialize(connection: Connection, handshake: ClientHandshake, *, timeout: float | None = None) -> AgentPeer:
    """Send `initialize`, switch *connection* to the negotiated version, and return the agent.

        async with connect_process(command, protocol=OPENING) as connection:
            agent = await initialize(connection, ClientHandshake(info=…, protocols=[v1, v2]))

    A warning is logged if the client advertises a capability without having a handler for it.

    Args:
        connection: the connection of a client with the protocol `OPENING`.
        handshake: the handshake of the client.
        timeout: seconds for the response; None to wait indefinitely.

    Raises:
        UnsupportedProtocolVersion: the agent chose a version that the client does not support. Close the connection and
            inform the user.
        BadProtocolVersion: the response does not contain a valid version, or repeats the requested version but uses
            another.
        DecodeError: the response is not valid in its version.
        RequestFailed: the agent responded with an error; `error_from` converts it.
        TimedOut: the agent did not respond in time.
        ConnectionClosed: the agent has exited or closed the connection.
        ValueError: the connection already has a protocol version.
    """
    if connection.protocol is not OPENING:
        raise ValueError(
            "the connection already has a protocol version; create it with protocol=OPENING to negotiate one here"
        )

    def settle(result: Any) -> AgentPeer:
        # A plain string would be taken for unparsed JSON.
        agent = handshake.accept(encode(result) if isinstance(result, str) else result)
        connection.protocol = agent.protocol
        _warn_of_unhandled(handshake.own(agent.protocol), connection.handlers)
        return agent

    return await connection.request(handshake.request(), method=INITIALIZE, timeout=timeout, then=settle)


def _warn_of_unhandled(own: Peer, handlers: Handlers) -> None:
    """Log the methods that were advertised but would be answered with "Method not found"."""
    lacking = [
        method
        for method, need in METHODS[own.side].items()
        # Some methods of sessions are optional: an agent without modes never gets a request to set one.
        if need not in (None, "session") and method in own.protocol.METHODS
        if own.supports(need) and not handlers.handles(method)
    ]
    if lacking:
        log.warning("advertised, but without a handler: %s", ", ".join(lacking))


class AgentHandlers(Handlers):
    """The handlers of an agent. Each request is checked before its handler runs.

        handlers = AgentHandlers(AgentHandshake(info=…, protocols=[v1, v2], capabilities={"session.load"}))

        @handlers.on("session/new")
        async def new_session(request: NewSessionRequest, connection: Connection) -> Any: ...

        async with connect_stdio(protocol=OPENING, handlers=handlers) as connection: ...

    - `initialize` is answered by the handshake, which negotiates the version. `settled` returns the result.
    - Requests before `initialize` are refused (`NotInitialized`), and so is a repeated `initialize` that is not
      allowed.
    - A warning is logged once if the agent advertises a capability without having a handler for it.
    - Requests that need a capability that was not advertised are refused (`check_message`), and so are paths that are
      not absolute (`check_paths`).

    One object can serve any number of connections.
    """

    _own = frozenset({INITIALIZE})
    _role = "agent"

    def __init__(self, handshake: AgentHandshake, *, flavour: Flavour = "any") -> None:
        """Create handlers that only answer `initialize`; add others with `on`.

        Args:
            handshake: the handshake of the agent.
            flavour: the kind of paths that the agent accepts: those of the system it runs on.

        Raises:
            ValueError: *flavour* is unknown.
        """
        check_flavour(flavour)
        super().__init__()
        self._handshake = handshake
        self._flavour: Flavour = flavour
        self._is_warned = False
        self._opened: WeakKeyDictionary[Connection, _Opened] = WeakKeyDictionary()

    def _check_types(self, types: Iterable[NotificationType]) -> None:
        for type_ in types:
            name = package_name(type_)
            ours = name and self._handshake.protocols.get(version_of(package_named(name)))
            if ours and name_of(ours) != name:
                raise ValueError(
                    f"{name}.{type_.params_name} would never be received, because the handshake offers "
                    f"{name_of(ours)}; use that package, or pass protocols=[{name}] to the handshake"
                )

    def settled(self, connection: Connection) -> Settled:
        """Return the result of `initialize` on *connection*: the client, and the capabilities advertised to it.

        Raises:
            NotInitialized: `initialize` has not been received yet. This does not happen in the handlers registered
                here.
        """
        opened = self._opened.get(connection)
        if opened is None or opened.settled is None:
            raise NotInitialized("settled()")
        return opened.settled

    def of(self, message: Request | Notification, connection: Connection) -> Handler | None:
        """Return the handler of *message*, with the checks, or None."""
        # Checked here, because messages arrive in order, but handlers of requests run concurrently.
        opened = self._opened.setdefault(connection, _Opened())
        if isinstance(message, Notification):
            return super().of(message, connection) if opened.lifecycle.is_ready else None
        if message.method == INITIALIZE:
            # A repeated `initialize` may be answered in another version than the one it was decoded with.
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
    """The state of a connection."""

    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    settled: Settled | None = None


def _refuse(error: NotInitialized, params: Any, connection: Connection) -> Any:  # noqa: ARG001 - it is a handler
    raise error

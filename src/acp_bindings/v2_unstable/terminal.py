"""ACP v2 unstable draft: terminal. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings._model import AnsweredBy, Extensible, Response

from .common import SessionId, TerminalId


class CancelTerminalRequest(Extensible, AnsweredBy["CancelTerminalResponse"]):
    """Request parameters for cancelling one terminal.

    Clients MUST NOT send it unless the terminal currently advertises `capabilities.cancel`.

    The Agent responds once it has accepted the cancellation. The response does not mean the work has stopped. The Agent
    confirms it with a `terminal_update` that sets `exitStatus`. Cancelling stops the process but does not release the
    terminal, and does not change the status of a tool call that references it.

    The Agent responds with `-32602` if the terminal is unknown, has already exited, or is not cancellable. Cancelling a
    terminal does not change the foreground state by itself.

    See protocol docs: [Cancelling
    Terminals](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#cancelling-terminals)
    """

    session_id: SessionId
    """The ID of the session that owns the terminal."""

    terminal_id: TerminalId
    """The ID of the terminal to cancel."""


class CancelTerminalResponse(Response):
    """Response from cancelling a terminal."""

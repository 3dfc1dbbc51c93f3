"""ACP v2 draft: tool_call. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings._model import AnsweredBy, Extensible, Response

from .common import SessionId, ToolCallId


class CancelToolCallRequest(Extensible, AnsweredBy["CancelToolCallResponse"]):
    """Request parameters for cancelling one tool call.

    Clients MUST NOT send it unless the tool call currently advertises `capabilities.cancel`.

    The Agent responds once it has accepted the cancellation. The response does not mean the work has stopped. The Agent
    confirms it with a `tool_call_update` to a final status: normally `cancelled`, or `completed` or `failed` if the
    work finished first.

    The Agent responds with `-32602` if the tool call is unknown, already final, or not cancellable. Cancelling a tool
    call does not change the foreground state by itself.

    See protocol docs: [Cancelling Tool
    Calls](https://agentclientprotocol.com/protocol/v2/tool-calls#cancelling-tool-calls)
    """

    session_id: SessionId
    """The ID of the session that owns the tool call."""

    tool_call_id: ToolCallId
    """The ID of the tool call to cancel."""


class CancelToolCallResponse(Response):
    """Response from cancelling a tool call."""

"""An agent that requests permission before it works, and stops when the client cancels the prompt."""

import itertools

import anyio

from acp_bindings import v1
from acp_bindings.connection import Connection, Handlers, connect_stdio

handlers = Handlers()
numbers = itertools.count(1)
turns: dict[str, anyio.CancelScope] = {}
"""Of each session the last prompt."""
OPTIONS = [
    v1.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
    v1.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
]


@handlers.on(v1.InitializeRequest)
async def initialize(request: v1.InitializeRequest, connection: Connection) -> v1.InitializeResponse:
    return v1.InitializeResponse(protocol_version=1)


@handlers.on(v1.NewSessionRequest)
async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id=f"sess_{next(numbers)}")


@handlers.on(v1.PromptRequest)
async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
    session, call = request.session_id, f"call_{next(numbers)}"
    title = " ".join(each.text for each in request.prompt if isinstance(each, v1.TextContent))
    turn = turns[session] = anyio.CancelScope()
    begun = v1.ToolCall(tool_call_id=call, title=title, status="pending")
    await connection.notify(v1.SessionNotification(session_id=session, update=begun))
    status: v1.ToolCallStatus = "failed"
    with turn:
        tool_call = v1.ToolCallUpdate(tool_call_id=call, title=title)
        question = v1.RequestPermissionRequest(session_id=session, tool_call=tool_call, options=OPTIONS)
        match (await connection.request(question)).outcome:
            case v1.SelectedPermissionOutcome(option_id=choice):
                # Here the work would be done, if it is allowed.
                status = "completed" if choice == "yes" else "failed"
            case v1.RequestPermissionOutcomeCancelled():
                turn.cancel()
    # After the scope, so that it is sent for cancelled calls too; and before the response.
    ended = v1.SessionToolCallUpdate(tool_call_id=call, status=status)
    await connection.notify(v1.SessionNotification(session_id=session, update=ended))
    return v1.PromptResponse(stop_reason="cancelled" if turn.cancel_called else "end_turn")


@handlers.on(v1.CancelNotification)
def cancel(params: v1.CancelNotification, connection: Connection) -> None:
    if turn := turns.get(params.session_id):
        turn.cancel()


async def main() -> None:
    async with connect_stdio(protocol=v1, handlers=handlers) as connection:
        await connection.wait_ended()


if __name__ == "__main__":
    anyio.run(main)

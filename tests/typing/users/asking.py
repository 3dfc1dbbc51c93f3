"""Sending requests and responses: the class of a request determines the type of its result."""

from collections.abc import Awaitable
from typing import Any, TypeVar, assert_type

from acp_bindings import decode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.connection import Connection, Handlers
from acp_bindings.jsonrpc import Codec, Notification, Request, Response, Sent
from acp_bindings.methods import Asks

T = TypeVar("T")

NEW = v1.NewSessionRequest(cwd="/", mcp_servers=[])


class Labelled(v1.NewSessionRequest):
    """A user's own fields do not affect the type of the response."""

    label: str


async def asking(connection: Connection, message: dict[str, Any]) -> None:
    answer = await connection.request(NEW)
    assert_type(answer, v1.NewSessionResponse)
    assert_type(answer.session_id, str)
    assert_type(await connection.request(v2.NewSessionRequest(cwd="/")), v2.NewSessionResponse)
    assert_type(await connection.request(decode(v1.PromptRequest, message)), v1.PromptResponse)
    assert_type(await connection.request(Labelled(cwd="/", mcp_servers=[], label="")), v1.NewSessionResponse)
    assert_type(
        await connection.request(v1_unstable.InitializeRequest(protocol_version=1)), v1_unstable.InitializeResponse
    )
    print(answer.sessionId)  # refused
    wrong: v1.LoadSessionResponse = await connection.request(NEW)  # refused
    print(wrong)
    await connection.request(answer)  # refused
    await connection.request(v1.CancelNotification(session_id="s"))  # refused
    await connection.request({"cwd": "/"})  # refused
    await connection.request(v1.LogoutRequest)  # refused


async def telling(connection: Connection, codec: Codec, some: Any) -> None:
    chunk = v1.AgentMessageChunk(content=v1.TextContent(text="Hello"))
    await connection.notify(v1.SessionNotification(session_id="s", update=chunk))
    await connection.notify(some)
    await connection.notify({"a": 1}, method="_acme/told")
    codec.notify(v1.CancelNotification(session_id="s"))
    codec.notify({"a": 1}, method="_acme/told")
    await connection.notify(chunk)  # refused
    await connection.notify(NEW)  # refused
    await connection.notify({"a": 1})  # refused
    await connection.notify(v1.CancelNotification)  # refused
    codec.notify(chunk)  # refused


async def asking_by_method(connection: Connection) -> None:
    """Requests sent by method name: extensions, and methods that share their params with others."""
    assert_type(await connection.request(method="_acme/do"), Any)
    assert_type(await connection.request(NEW, method="_acme/new"), Any)
    assert_type(await connection.request([1], method="_acme/do", then=str), str)


async def asking_with_unions(connection: Connection, message: dict[str, Any]) -> None:
    elicitation = decode(v1.CreateElicitationRequest, message)
    match await connection.request(elicitation):
        case v1.CreateElicitationResponseAccept(content=content):
            print(content)
        case v1.CreateElicitationResponseDecline() | v1.CreateElicitationResponseCancel():
            pass
        case other:
            rest: v1.OtherCreateElicitationResponse = other
            print(rest)
    option = decode(v2_unstable.SetSessionConfigOptionRequest, message)
    assert_type(await connection.request(option), v2_unstable.SetSessionConfigOptionResponse)


async def asking_with_then(connection: Connection) -> None:
    def session_of(answer: v1.NewSessionResponse) -> str:
        return answer.session_id

    assert_type(await connection.request(NEW, then=session_of), str)
    assert_type(await connection.request(NEW, then=lambda answer: answer.session_id), str)
    await connection.request(NEW, then=lambda answer: answer.nope)  # refused
    await connection.request(v1.LogoutRequest(), then=session_of)  # refused


async def asking_for_others(connection: Connection, params: Asks[T]) -> T:
    return await connection.request(params)


async def using_that(connection: Connection) -> None:
    assert_type(await asking_for_others(connection, NEW), v1.NewSessionResponse)
    await asking_for_others(connection, v1.LogoutResponse())  # refused


def sending(codec: Codec, line: bytes) -> None:
    sent = codec.request(NEW)
    assert_type(sent, Sent[v1.NewSessionResponse])
    match codec.read(line):
        case Response(id=sent.id) as response:
            assert_type(sent.result_in(response), v1.NewSessionResponse)
        case other:
            sent.result_in(other)  # refused
    assert_type(codec.request(NEW, id="mine"), Sent[v1.NewSessionResponse])
    assert_type(codec.request({"a": 1}, method="_acme/do"), Sent[Any])
    codec.request(v1.NewSessionResponse(session_id="s"))  # refused
    other_sent: Sent[v1.LogoutResponse] = codec.request(NEW)  # refused
    print(other_sent)


handlers = Handlers()


@handlers.on(v1.NewSessionRequest)
async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id=f"session of {request.cwd} for {connection.role}")


@handlers.on(v1.LoadSessionRequest, exclusive=True)
def load_session(request: v1.LoadSessionRequest, connection: Connection) -> v1.LoadSessionResponse:
    return v1.LoadSessionResponse()


@handlers.on(v1.LogoutRequest)
async def logout(request: v1.LogoutRequest, connection: Connection) -> None:
    print(request, connection)


@handlers.on(v1.CloseSessionRequest)
def close_session(request: v1.CloseSessionRequest, connection: Connection) -> v1.CloseSessionResponse | None:
    return v1.CloseSessionResponse() if request.session_id else None


@handlers.on(v1.CancelNotification)
async def cancel(params: v1.CancelNotification, connection: Connection) -> None: ...


@handlers.on(v1.SetSessionConfigOptionRequest)
async def set_option(
    request: v1.SetSessionConfigOptionRequest, connection: Connection
) -> v1.SetSessionConfigOptionResponse:
    match request:
        case v1.SetSessionConfigOptionRequestValueId(value=name):
            assert_type(name, str)
        case v1.SetSessionConfigOptionRequestBoolean(value=on):
            assert_type(on, bool)
    return v1.SetSessionConfigOptionResponse(config_options=[])


@handlers.on(v1.SetSessionConfigOptionRequest)  # refused
async def params_of_another(request: v1.PromptRequest, connection: Connection) -> Any:
    raise NotImplementedError


@handlers.on("_acme/do")
async def do(params: Any, connection: Connection) -> Any:
    raise NotImplementedError


@handlers.otherwise
async def all_else(message: Request | Notification, connection: Connection) -> Any:
    return await connection.request(message.params, method=message.method)


@handlers.otherwise  # refused
async def params_of_one(params: v1.PromptRequest, connection: Connection) -> Any:
    raise NotImplementedError


@handlers.on(v1.PromptRequest)  # refused
async def another_answer(request: v1.PromptRequest, connection: Connection) -> v1.NewSessionResponse:
    raise NotImplementedError


@handlers.on(v1.PromptRequest)  # refused by pyright, ty
async def no_answer(request: v1.PromptRequest, connection: Connection) -> None: ...


@handlers.on(v1.PromptRequest)  # refused
async def other_params(request: v1.NewSessionRequest, connection: Connection) -> v1.PromptResponse:
    raise NotImplementedError


@handlers.on(v1.PromptRequest)  # refused
async def no_connection(request: v1.PromptRequest) -> v1.PromptResponse:
    raise NotImplementedError


@handlers.on(v1.CancelNotification)  # refused
async def other_notification(params: v1.SessionNotification, connection: Connection) -> None: ...


class Agent:
    """Methods of an object as handlers."""

    def handlers(self) -> Handlers:
        handlers = Handlers()
        handlers.on(v1.PromptRequest)(self.prompt)
        handlers.on(v1.NewSessionRequest)(self.prompt)  # refused
        handlers.on(v1.CloseSessionRequest)(lambda request, connection: v1.CloseSessionResponse())
        handlers.on(v1.NewSessionRequest)(lambda request, connection: v1.CloseSessionResponse())  # refused
        return handlers

    def prompt(self, request: v1.PromptRequest, connection: Connection) -> Awaitable[v1.PromptResponse]:
        raise NotImplementedError

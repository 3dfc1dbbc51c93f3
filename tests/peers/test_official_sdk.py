"""Bugs of the official SDK (`agent-client-protocol`) that ours does not have: `nox -s peers`.

Each test checks both. If a later release of theirs fixes the bug, its half fails, and the test can be removed.
"""

import asyncio
import json
import re
import socket
from pathlib import Path
from typing import Any

import acp
import acp.router
import acp.schema as theirs
import anyio
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from acp_bindings import DecodeError, decode, encode, v1, v2
from acp_bindings.jsonrpc import Codec, Request, Response
from acp_bindings.setup import AuthRequired
from tests.acp_bindings.connection.support import against

STDIO: dict[str, Any] = {"name": "files", "command": "/bin/files", "args": [], "env": []}


def dumped(model: BaseModel) -> Any:
    """Return the JSON that their connection writes for a model."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


def written(value: Any) -> Any:
    return json.loads(encode(value))


def update(**members: Any) -> Any:
    return {"sessionId": "s", "update": members}


@pytest.mark.parametrize("version", ["1", True, 1.0])
def test_a_version_that_is_not_an_integer_is_refused(version: Any) -> None:
    message = {"protocolVersion": version}

    assert theirs.InitializeRequest.model_validate(message).protocol_version == 1
    with pytest.raises(DecodeError, match="protocolVersion: Input should be a valid integer"):
        decode(v1.InitializeRequest, message)


@pytest.mark.parametrize("flag", ["yes", 1, "on"])
def test_a_capability_that_is_not_a_boolean_is_not_set(flag: Any) -> None:
    message = {"protocolVersion": 1, "agentCapabilities": {"loadSession": flag}}

    their_capabilities = theirs.InitializeResponse.model_validate(message).agent_capabilities
    assert their_capabilities
    assert their_capabilities.load_session is True
    assert decode(v1.InitializeResponse, message).agent_capabilities.load_session is False


class TestMcpServers:
    @pytest.mark.parametrize(
        ("entry", "complaint"),
        [
            (
                {key: STDIO[key] for key in ("name", "command", "args")},
                r"mcpServers\[0\].env: Field required \(in McpServerStdio\)",
            ),
            ({**STDIO, "env": {"KEY": "value"}}, r"mcpServers\[0\].env: Input should be a valid array"),
            ({"type": "http", "name": "n", "url": "u"}, r"mcpServers\[0\].headers: Field required \(in http\)"),
        ],
    )
    def test_a_bad_entry_is_an_error_and_not_dropped_in_silence(self, entry: Any, complaint: str) -> None:
        message = {"cwd": "/", "mcpServers": [entry]}

        assert theirs.NewSessionRequest.model_validate(message).mcp_servers == []
        with pytest.raises(DecodeError, match=complaint):
            decode(v1.NewSessionRequest, message)

    def test_env_may_be_null(self) -> None:
        message = {"cwd": "/", "mcpServers": [{**STDIO, "env": None}]}

        assert theirs.NewSessionRequest.model_validate(message).mcp_servers == []
        server = v1.McpServerStdio(name="files", command="/bin/files", args=[], env=[])
        assert decode(v1.NewSessionRequest, message).mcp_servers == [server]

    def test_a_server_that_is_passed_by_hand_is_not_dropped(self) -> None:
        their_server = theirs.McpServerHttp(name="n", url="u", headers=[])
        our_server = v1.McpServerHttp(name="n", url="u", headers=[])

        assert theirs.NewSessionRequest(cwd="/", mcp_servers=[their_server]).mcp_servers == []  # pyright: ignore[reportArgumentType]
        assert v1.NewSessionRequest(cwd="/", mcp_servers=[our_server]).mcp_servers == [our_server]

    def test_a_broken_http_entry_is_not_stdio(self) -> None:
        message = {"cwd": "/", "mcpServers": [{"type": "http", **STDIO}]}

        assert isinstance(theirs.NewSessionRequest.model_validate(message).mcp_servers[0], theirs.McpServerStdio)
        with pytest.raises(DecodeError, match=r"mcpServers\[0\].url: Field required.* \(in http\)"):
            decode(v1.NewSessionRequest, message)

    def test_the_values_of_env_do_not_show(self) -> None:
        assert "hunter2" in repr(theirs.EnvVariable(name="KEY", value="hunter2"))
        assert "hunter2" not in repr(v1.EnvVariable(name="KEY", value="hunter2"))


def test_a_broken_terminal_method_is_not_read_as_an_agent_method() -> None:
    message = {"protocolVersion": 1, "authMethods": [{"type": "terminal", "id": "i", "name": "n", "args": 5}]}

    assert isinstance((theirs.InitializeResponse.model_validate(message).auth_methods or [])[0], theirs.AuthMethodAgent)
    assert decode(v1.InitializeResponse, message).auth_methods == []


class TestNothingIsLost:
    def test_unknown_fields_are_preserved(self) -> None:
        message = {"sessionId": "s", "newer": {"a": [1, None]}}

        assert dumped(theirs.NewSessionResponse.model_validate(message)) == {"sessionId": "s"}
        assert written(decode(v1.NewSessionResponse, message)) == message

    def test_null_clears_a_title(self) -> None:
        message = update(sessionUpdate="session_info_update", title=None)

        assert dumped(theirs.SessionNotification.model_validate(message)) == update(sessionUpdate="session_info_update")
        assert written(decode(v1.SessionNotification, message)) == message

    def test_the_spelling_of_a_url_is_preserved(self) -> None:
        message = {
            "sessionId": "s",
            "message": "m",
            "mode": "url",
            "elicitationId": "e",
            "url": "https://example.com",
        }

        adapter: TypeAdapter[Any] = TypeAdapter(theirs.CreateElicitationRequest)
        assert dumped(adapter.validate_python(message))["url"] == "https://example.com/"
        assert written(decode(v1.CreateElicitationRequest, message)) == message

    def test_an_integer_stays_an_integer(self) -> None:
        message = {"type": "number", "minimum": 1}

        assert theirs.ElicitationNumberPropertySchema.model_validate(message).model_dump_json(exclude_unset=True) == (
            '{"minimum":1.0,"type":"number"}'
        )
        assert encode(decode(v1.ElicitationPropertySchema, message)) == b'{"type":"number","minimum":1}'


class TestNewerPeers:
    def test_an_unknown_update_is_preserved(self) -> None:
        message = update(sessionUpdate="weather_update", sky={"clouds": 3})

        with pytest.raises(ValidationError):
            theirs.SessionNotification.model_validate(message)
        assert written(decode(v1.SessionNotification, message)) == message
        assert written(decode(v2.UpdateSessionNotification, message)) == message

    def test_unknown_content_and_stop_reasons_are_preserved_in_open_unions(self) -> None:
        chunk = update(sessionUpdate="agent_message_chunk", content={"type": "hologram", "depth": 3})
        reason = {"stopReason": "out_of_ink"}

        for their_type, message in ((theirs.SessionNotification, chunk), (theirs.PromptResponse, reason)):
            with pytest.raises(ValidationError):
                their_type.model_validate(message)
        chunk["update"]["messageId"] = reason["messageId"] = "m"  # which v2, the open one, requires
        assert written(decode(v2.UpdateSessionNotification, chunk)) == chunk
        assert written(decode(v2.PromptResponse, reason)) == reason

    @pytest.mark.parametrize(
        ("message", "read"),
        [
            (
                update(sessionUpdate="tool_call_update", toolCallId="t", locations=5),
                update(sessionUpdate="tool_call_update", toolCallId="t"),
            ),
            (
                update(sessionUpdate="config_option_update", configOptions=5),
                update(sessionUpdate="config_option_update", configOptions=[]),
            ),
        ],
    )
    def test_errors_tolerated_by_the_schema_are_tolerated(self, message: Any, read: Any) -> None:
        with pytest.raises(ValidationError):
            theirs.SessionNotification.model_validate(message)
        assert decode(v1.SessionNotification, message) == decode(v1.SessionNotification, read)


class TestJsonRpc:
    @pytest.mark.parametrize(
        ("method", "params", "their_guess", "our_type"),
        [
            ("logout", {}, theirs.ListProvidersRequest, v1.LogoutRequest),
            ("session/close", {"sessionId": "s"}, theirs.DeleteSessionRequest, v1.CloseSessionRequest),
            ("session/resume", {"sessionId": "s", "cwd": "/"}, theirs.ForkSessionRequest, v1.ResumeSessionRequest),
        ],
    )
    def test_the_method_determines_the_type_of_params(
        self, method: str, params: Any, their_guess: type[BaseModel], our_type: type[BaseModel]
    ) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

        assert type(theirs.ClientRequest.model_validate(message).params) is their_guess
        request = Codec(v1, role="agent").read(json.dumps(message))
        assert isinstance(request, Request)
        assert type(request.params) is our_type

    def test_null_is_the_empty_result(self) -> None:
        with pytest.raises(ValidationError):
            theirs.LoadSessionResponse.model_validate(None)
        codec = Codec(v1, role="client")
        sent = codec.request(v1.LoadSessionRequest(cwd="/", mcp_servers=[], session_id="s"))
        response = codec.read(json.dumps({"jsonrpc": "2.0", "id": sent.id, "result": None}))
        assert response == Response(sent.id, "session/load", v1.LoadSessionResponse())

    def test_meta_cannot_replace_a_field(self) -> None:
        class Agent:
            async def load(self, cwd: str, **others: Any) -> str:
                return cwd

        message: Any = {"sessionId": "s", "cwd": "/project", "mcpServers": [], "_meta": {"cwd": "/etc"}}
        route = acp.router.MessageRouter().route_request("session/load", theirs.LoadSessionRequest, Agent(), "load")

        assert asyncio.run(route.handle(message)) == "/etc"
        assert decode(v1.LoadSessionRequest, message).cwd == "/project"


AUTHENTICATE = {"jsonrpc": "2.0", "id": 1, "method": "authenticate", "params": {"methodId": "browser"}}


class TestErrors:
    def their_answer(self, error: Exception) -> Any:
        """Return the client's response when a method of theirs raises *error*; None if there is none."""

        class Agent:
            def on_connect(self, client: Any) -> None: ...

            async def authenticate(self, method_id: str, **others: Any) -> None:
                raise error

        async def answer() -> Any:
            ours, its = socket.socketpair()
            from_agent, to_agent = await asyncio.open_connection(sock=ours)
            from_client, to_client = await asyncio.open_connection(sock=its)
            to_agent.write(json.dumps(AUTHENTICATE).encode() + b"\n")
            to_agent.write_eof()
            agent: Any = Agent()
            await acp.run_agent(agent, to_client, from_client)
            for end in (to_client, to_agent):
                end.close()
                await end.wait_closed()
            return json.loads(await from_agent.read() or "null")

        return asyncio.run(answer())

    def our_answer(self, error: Exception) -> Any:
        """Return the same for a handler of ours."""

        def authenticate(params: Any, connection: Any) -> None:
            raise error

        async def answer() -> Any:
            async with against({v1.AuthenticateRequest: authenticate}) as (_, peer):
                await peer.say(AUTHENTICATE)
                return await peer.hear()

        return anyio.run(answer)

    def test_the_exception_of_a_handler_is_only_logged(self) -> None:
        error = RuntimeError("no such file: /home/me/.keys")
        assert self.their_answer(error)["error"]["data"] == {"details": "no such file: /home/me/.keys"}
        assert self.our_answer(error)["error"] == {"code": -32603, "message": "Internal error"}

    def test_an_error_that_contains_a_model_is_sent(self) -> None:
        method = theirs.AuthMethodAgent(id="browser", name="In the browser")
        assert self.their_answer(acp.RequestError.auth_required({"authMethods": [method]})) is None
        ours = AuthRequired(data={"authMethods": [v1.AuthMethodAgent(id="browser", name="In the browser")]})
        told = {"authMethods": [{"id": "browser", "name": "In the browser"}]}
        assert self.our_answer(ours)["error"]["data"] == told


NAMES = re.findall(
    r"^\| `(\w+)` \| `(\w+)` \|$",
    (Path(__file__).parents[2] / "docs" / "official_sdk.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(("name", "here"), NAMES)
def test_a_type_with_another_name_has_the_same_fields_and_tag(name: str, here: str) -> None:
    assert not hasattr(v1, name)
    there, ours = schema_of(getattr(theirs, name)), schema_of(getattr(v1, here))
    assert there.keys() <= ours.keys()
    tags = {member: schema["const"] for member, schema in there.items() if "const" in schema}
    assert tags == {member: ours[member]["const"] for member in tags}


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()["properties"]

"""A handler for a class of another protocol version is reported, because it is never called."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bindings import v1, v1_unstable, v2
from acp_bindings.connection import Handlers
from acp_bindings.jsonrpc import METHOD_NOT_FOUND
from acp_bindings.setup import OPENING
from tests.acp_bindings.connection.support import against, nothing

pytestmark = pytest.mark.anyio

INITIALIZE: dict[str, Any] = {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
NEW: dict[str, Any] = {"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
CANCEL: dict[str, Any] = {"method": "session/cancel", "params": {"sessionId": "s"}}
OPTION: dict[str, Any] = {
    "id": 1,
    "method": "session/set_config_option",
    "params": {"sessionId": "s", "configId": "c", "value": "v"},
}
MESSAGE: dict[str, Any] = {"method": "mcp/message", "params": {"serverId": "s", "requestId": "r", "method": "m"}}


async def told(
    handlers: Handlers | dict[Any, Any], *messages: dict[str, Any], protocol: Any = v1_unstable
) -> list[Any]:
    """Return the error codes of the responses to *messages*; None for a result."""
    async with against(handlers, protocol=protocol) as (_, peer):
        await peer.say(*messages, {"id": "last", "method": "session/load"})
        answers: list[Any] = []
        while (answer := await peer.hear())["id"] != "last":
            answers.append(answer.get("error", {}).get("code"))
        return answers


@pytest.mark.parametrize(
    ("handlers", "message", "read", "handled"),
    [
        ({v1.NewSessionRequest: nothing}, NEW, "v1_unstable.NewSessionRequest", "v1.NewSessionRequest"),
        (
            {v1.CancelNotification: nothing, v2.CancelSessionNotification: nothing},
            CANCEL,
            "v1_unstable.CancelNotification",
            "v1.CancelNotification, v2.CancelSessionNotification",
        ),
        (
            {v1.SetSessionConfigOptionRequest: nothing},
            OPTION,
            "v1_unstable.SetSessionConfigOptionRequest",
            "v1.SetSessionConfigOptionRequest",
        ),
    ],
)
async def test_a_handler_of_another_package_is_reported_once_with_both_classes(
    handlers: Any, message: dict[str, Any], read: str, handled: str, caplog: pytest.LogCaptureFixture
) -> None:
    handlers = Handlers(handlers)
    for _ in range(2):
        assert await told(handlers, message, message) == ([METHOD_NOT_FOUND] * 2 if "id" in message else [])
    method = message["method"]
    assert caplog.messages == [
        f"the handler of {method} is not called: the message is decoded as {read}, but the handler is for {handled}"
    ]


async def test_a_handler_of_a_class_that_a_fallback_replaces_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    handlers = Handlers({v1.NewSessionRequest: nothing})
    handlers.otherwise(nothing)
    await told(handlers, NEW, NEW, protocol=OPENING)
    (message,) = caplog.messages
    assert message == (
        "the handler of session/new is not called: the message is decoded as JSON, but the handler is for "
        "v1.NewSessionRequest; register it by the name of the method"
    )


async def test_a_handler_of_a_version_that_is_never_negotiated_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    assert await told({v1.InitializeRequest: nothing}, INITIALIZE, protocol=OPENING) == [METHOD_NOT_FOUND]
    (message,) = caplog.messages
    assert message == (
        "the handler of initialize is not called: the message is decoded as JSON, but the handler is for "
        "v1.InitializeRequest; register it by the name of the method"
    )


async def test_a_handler_of_an_unknown_method_is_called_if_unknown_methods_are_passed() -> None:
    asked: dict[str, Any] = {"id": 1, "method": "session/set_model", "params": {}}
    assert await told({"session/set_model": nothing}, asked) == [METHOD_NOT_FOUND]
    async with against({"session/set_model": nothing}, pass_unknown=True) as (_, peer):
        await peer.say(asked)
        assert (await peer.hear())["result"] is None


async def test_a_message_handled_in_any_package_or_without_handlers_causes_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    handlers = Handlers({v1.AuthenticateRequest: nothing, v2.LoginAuthRequest: nothing, v1.NewSessionRequest: nothing})
    assert await told(handlers, NEW | {"method": "session/list", "params": {}}, CANCEL) == [METHOD_NOT_FOUND]
    handlers.on("session/new")(nothing)
    assert METHOD_NOT_FOUND not in await told(handlers, NEW)
    handlers = Handlers({v1_unstable.NewSessionRequest: nothing})
    handlers.otherwise(nothing)
    assert METHOD_NOT_FOUND not in await told(handlers, NEW, CANCEL)
    # The request and the notification of this method are two.
    assert await told({v1_unstable.MessageMcpRequest: nothing}, MESSAGE) == []
    assert await told({v2.NewSessionRequest: nothing}, {"id": 1, "method": "_acme/do"}) == [METHOD_NOT_FOUND]
    assert [each for each in caplog.messages if "is not called" in each] == []

"""`METHODS` of each package agrees with the published schema."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest

from acp_bindings import v1, v1_unstable, v2
from acp_bindings._models.base import NotificationParams, RequestParams
from acp_bindings.methods import Method, Methods, is_of
from tests.acp_bindings.roundtrip import generated
from tests.acp_bindings.schemas import PACKAGES, load

HELLO = v1.TextContent(text="Hello")


def published(package: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield definition, method, side and kind of everything that the schema defines as part of a method."""
    for name, node in load(package).definitions.items():
        if "x-method" in node:
            method, side = str(node["x-method"]), str(node["x-side"])
            yield (
                name,
                method,
                side,
                next(kind for kind in ("Request", "Response", "Notification") if name.endswith(kind)),
            )


@pytest.mark.parametrize("package", PACKAGES)
def test_the_table_matches_the_schema(package: str) -> None:
    methods = importlib.import_module(f"acp_bindings.{package}").METHODS
    stated = {
        (part.method, kind, part.side, type_) for method in methods.values() for part, kind, type_ in parts(method)
    }

    assert {(method, kind, side, name) for name, method, side, kind in published(package)} == {
        (method, kind, side, name) for method, kind, side, (name, _) in stated
    }
    assert all(type_ is generated(package, name) for _, _, _, (name, type_) in stated)
    assert list(methods) == sorted({method for _, method, _, _ in published(package)})


def test_the_base_class_that_declares_a_response_leaves_no_trace() -> None:
    class Ask(v1.NewSessionRequest, RequestParams["v1.NewSessionResponse"]): ...

    class Tell(v1.CancelNotification, NotificationParams): ...

    async def ask(params: RequestParams[Any]) -> Any: ...

    assert Tell.__mro__ == (Tell, *v1.CancelNotification.__mro__)
    assert v1.CancelNotification.__bases__ == v1.EnvVariable.__bases__
    assert Ask.__mro__ == (Ask, *v1.NewSessionRequest.__mro__)
    assert v1.NewSessionRequest.__bases__ == v1.LoadSessionRequest.__bases__ == v1.EnvVariable.__bases__
    assert inspect.iscoroutinefunction(ask)


def parts(method: Method) -> Iterator[tuple[Any, str, tuple[str, Any]]]:
    if method.request:
        yield method.request, "Request", (method.request.params_name, method.request.params)
        assert method.request.result_name
        yield method.request, "Response", (method.request.result_name, method.request.result)
    if method.notification:
        yield method.notification, "Notification", (method.notification.params_name, method.notification.params)


def test_a_method_may_be_a_request_and_a_notification_by_side() -> None:
    message = v1_unstable.METHODS["mcp/message"]

    assert repr(message) == (
        "Method(RequestType('mcp/message', side='client', params=MessageMcpRequest, result=MessageMcpResponse), "
        "NotificationType('mcp/message', side='agent', params=MessageMcpNotification))"
    )


def test_a_table_shows_its_methods() -> None:
    few = Methods("m.methods", requests={"b": ("agent", "B", None)}, notifications={"a": ("both", "A")})

    assert repr(few) == "Methods(a, b)"
    assert repr(few["b"]) == "Method(RequestType('b', side='agent', params=B, result=None))"


def test_params_determine_their_method() -> None:
    class OurPrompt(v1.PromptRequest):
        """A user's class."""

    boolean = v1.SetSessionConfigOptionRequestBoolean(session_id="s", config_id="c", value=True)
    found = [v1.METHODS.request_with(each) for each in (OurPrompt(session_id="s", prompt=[HELLO]), boolean)]

    assert [each and each.method for each in found] == ["session/prompt", "session/set_config_option"]
    assert (
        v1.METHODS.notification_with(v1.CancelNotification(session_id="s")) is v1.METHODS["session/cancel"].notification
    )
    assert v1.METHODS.notification_with(v1.PromptRequest(session_id="s", prompt=[HELLO])) is None
    assert v1.METHODS.request_with(v2.CloseSessionRequest(session_id="s")) is None
    assert v1.METHODS.request_with(None) is None


TYPES: list[tuple[Any, list[Any], list[Any]]] = [
    (Any, [None, 5, {}], []),
    (v1.LogoutRequest, [v1.LogoutRequest()], [None, {}, v1.LogoutResponse()]),
    (v1.McpServer, [v1.McpServerSse(name="n", url="u", headers=[])], [None, v1.EnvVariable(name="n", value="v")]),
    (v1.RequestId, [None, 0, ""], [0.5, [], {}]),
    (dict[str, Any], [{}, {"a": 1}], [None, [], "a", v1.LogoutRequest()]),
    (Annotated[list[str] | None, "a mark"], [[], None], [{}, "a", "a mark"]),
    (Literal["a"], ["a"], ["b", None]),
]


@pytest.mark.parametrize(("type_", "of_it", "not_of_it"), TYPES)
def test_a_value_is_of_a_type_or_not(type_: Any, of_it: list[Any], not_of_it: list[Any]) -> None:
    assert [is_of(each, type_) for each in (*of_it, *not_of_it)] == [True] * len(of_it) + [False] * len(not_of_it)

"""Handlers: what is accepted as a handler, which of two is called, and which messages remain for others."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import v1, v2, v2_unstable
from acp_bindings.connection import Connection, Handlers
from tests.acp_bindings.connection.support import NEW, PROMPT, SECRET, against, both, doing, new_session, nothing

pytestmark = pytest.mark.anyio

COLOUR: ContextVar[str] = ContextVar("colour", default="none")


def by_name(params: Any, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id="by name")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (v1.NewSessionResponse, "no method takes NewSessionResponse as params; register the method by name"),
        (dict, "no method takes dict as params; register the method by name"),
        (v1.AgentMessageChunk, "no method takes AgentMessageChunk as params; it is part of SessionNotification"),
        (
            v1.SessionToolCallUpdate,
            (
                "no method takes SessionToolCallUpdate as params; it is part of RequestPermissionRequest or "
                "SessionNotification"
            ),
        ),
        (
            v2_unstable.SystemPrompt,
            (
                "no method takes SystemPrompt as params; it is part of ForkSessionRequest or NewSessionRequest or "
                "ResumeSessionRequest"
            ),
        ),
        (
            v1.CreateElicitationRequestForm,
            (
                "elicitation/create does not only take CreateElicitationRequestFormSession: register "
                "CreateElicitationRequest"
            ),
        ),
        *(
            (wrong, f"register a handler for a class of params or the name of a method, not for {name}")
            for wrong, name in [
                (v1.PromptRequest(session_id=SECRET, prompt=[]), "PromptRequest"),
                (nothing, "nothing"),
                (v1.PromptRequest | list[int], "list"),
            ]
        ),
    ],
)
def test_only_names_and_classes_that_a_method_takes_are_accepted(wrong: Any, says: str) -> None:
    with pytest.raises(TypeError) as refused:
        Handlers().on(wrong)
    assert str(refused.value) == says


async def test_a_union_of_params_is_registered_whole() -> None:
    taken: list[Any] = []

    async def set_option(
        request: v1.SetSessionConfigOptionRequest, connection: Connection
    ) -> v1.SetSessionConfigOptionResponse:
        taken.append(request)
        return v1.SetSessionConfigOptionResponse(config_options=[])

    handlers = Handlers()
    handlers.on(v1.SetSessionConfigOptionRequest)(set_option)
    sent = [
        v1.SetSessionConfigOptionRequestValueId(session_id="s", config_id="model", value="big"),
        v1.SetSessionConfigOptionRequestBoolean(session_id="s", config_id="brave", value=True),
    ]
    async with both(agent=handlers) as (_, client):
        for request in sent:
            await client.request(request, timeout=5)
    assert taken == sent
    assert list(handlers) == ["session/set_config_option"]
    with pytest.raises(ValueError, match=r"^SetSessionConfigOptionRequest already has a handler$"):
        handlers.on(v1.SetSessionConfigOptionRequest)(set_option)


async def test_the_params_of_several_versions_are_a_union_too() -> None:
    def prompted(request: v1.PromptRequest | v2.PromptRequest, connection: Connection) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason="end_turn")

    handlers = Handlers()
    handlers.on(v1.PromptRequest | v2.PromptRequest)(prompted)
    async with both(agent=handlers) as (_, client):
        assert (await client.request(PROMPT)).stop_reason == "end_turn"
    for taken in (v1.PromptRequest, v2.PromptRequest):
        with pytest.raises(ValueError, match=r"^PromptRequest already has a handler$"):
            handlers.on(taken)(prompted)


@pytest.mark.parametrize("calls", [v1.NewSessionRequest, "session/new", "_acme/do"])
def test_a_handler_with_a_wrong_signature_is_refused_at_registration(calls: Any) -> None:
    class Handle:
        def __call__(self, params: Any) -> None: ...

    async def with_one(params: Any) -> None: ...

    def with_more(params: Any, connection: Connection, more: Any) -> None: ...

    def by_keyword(params: Any, *, connection: Connection) -> None: ...

    given: list[Any] = [
        with_one,
        with_more,
        by_keyword,
        lambda: None,
        Handle(),
        partial(with_more, more=1, params=2),
    ]
    for wrong in given:
        with pytest.raises(TypeError, match="cannot be called with the params and the connection"):
            Handlers({calls: wrong})
    given = [None, v1.NewSessionResponse(session_id="s")]
    for wrong in given:
        with pytest.raises(TypeError, match="a handler must be a function of the params and the connection, not"):
            Handlers({calls: wrong})


def test_any_callable_with_two_parameters_is_accepted() -> None:
    class Handle:
        async def __call__(self, params: Any, connection: Connection) -> None: ...

        def bound(self, params: Any, connection: Connection) -> None: ...

    def wrapped(params: Any) -> None: ...

    @wraps(wrapped)
    def wrapping(params: Any, connection: Connection) -> None: ...

    def with_more(params: Any, connection: Connection, more: Any = None, *, last: Any = None) -> None: ...

    right: list[Any] = [Handle(), Handle().bound, wrapping, with_more, partial(with_more, last=1), max, print]
    for handle in right:
        assert list(Handlers({"_acme/do": handle})) == ["_acme/do"]


@pytest.mark.parametrize(
    ("calls", "name"), [(v1.NewSessionRequest, "NewSessionRequest"), ("session/new", "session/new")]
)
async def test_a_second_handler_is_refused_and_the_first_stays(calls: Any, name: str) -> None:
    handlers = Handlers({calls: by_name})
    with pytest.raises(ValueError, match=f"^{name} already has a handler$"):
        handlers.on(calls)(new_session)
    async with both(agent=handlers) as (_, client):
        assert (await client.request(NEW)).session_id == "by name"


@pytest.mark.parametrize("calls", [v1.CancelRequestNotification, v2.CancelRequestNotification, "$/cancel_request"])
def test_a_handler_for_cancel_request_is_refused(calls: Any) -> None:
    with pytest.raises(ValueError, match=r"^\$/cancel_request is handled by the connection, which cancels"):
        Handlers({calls: nothing})


@pytest.mark.parametrize(
    ("role", "calls"),
    [("agent", v1.SessionNotification), ("agent", "terminal/create"), ("client", v2.PromptRequest)],
)
async def test_a_connection_refuses_a_handler_that_its_role_never_calls(role: Any, calls: Any) -> None:
    with pytest.raises(ValueError, match=f"{role}s never receive .*, only (agents|clients) do"):
        async with against({calls: nothing}, role=role):
            pass


async def test_a_proxy_may_handle_the_methods_of_both_sides() -> None:
    async with against({v1.SessionNotification: nothing, v1.PromptRequest: nothing}, role="proxy"):
        pass


async def test_a_handler_by_name_takes_precedence_over_one_by_class() -> None:
    handlers: dict[Any, Any] = {
        "session/new": by_name,
        v1.NewSessionRequest: new_session,
    }
    async with both(agent=handlers) as (_, client):
        assert (await client.request(NEW)).session_id == "by name"


async def test_context_variables_set_by_a_handler_do_not_leak() -> None:
    def at_once(params: Any, connection: Connection) -> None:
        before.append(COLOUR.get())
        COLOUR.set("red")

    async def later(params: Any, connection: Connection) -> None:
        at_once(params, connection)
        await anyio.lowlevel.checkpoint()
        after.append(COLOUR.get())

    before: list[str] = []
    after: list[str] = []
    handlers = Handlers({"_acme/at_once": at_once, "_acme/later": later})
    handlers.on("_acme/exclusive", exclusive=True)(later)
    async with against(handlers) as (_, peer):
        for method in ("_acme/at_once", "_acme/later", "_acme/exclusive") * 2:
            # What has to wait for its turn is begun by another task than what has not.
            await peer.say({"method": method}, {"id": 1, "method": method}, {"id": 2, "method": method})
            assert {(await peer.hear())["id"] for _ in range(2)} == {1, 2}
    assert (set(before), len(before)) == ({"none"}, 18)
    assert (set(after), len(after)) == ({"red"}, 12)


async def test_handlers_that_wait_run_in_separate_tasks() -> None:
    async def wait(params: Any, connection: Connection) -> None:
        # The coroutine of the task; as long as it is kept, no other is it.
        tasks.append(anyio.get_current_task().coro)
        if len(tasks) == 5:
            last.set()
        await last.wait()

    class Wait:
        async def __call__(self, params: Any, connection: Connection) -> None:
            await wait(params, connection)

    tasks: list[object] = []
    last = anyio.Event()
    async with against({"_acme/do": Wait(), "_acme/did": wait}) as (_, peer):
        await peer.say(*(doing(number) for number in range(4)), {"method": "_acme/did"})
        for _ in range(4):
            await peer.hear()
    assert len(set(tasks)) == 5

"""The state of a connection: which messages are allowed when, for both sides and for readers of recordings."""

from typing import Any

import pytest

from acp_bindings import v1
from acp_bindings.jsonrpc import BadLine, BadResponse, ErrorResponse, Message, Notification, Request, Response
from acp_bindings.setup import AgentHandshake, Lifecycle, NotInitialized
from acp_bindings.setup._handshake import Phase
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import InitializedAlready

INITIALIZE = Request(0, "initialize", {})
NEW = Request(1, "session/new", {})
INFO = v1.Implementation(name="it", version="1")
NO_VERSIONS: list[Any] = ["1", 1.0, True, None, [1]]


def answered(version: int, id_: int | str | None = 0) -> Response:
    return Response(id_, "initialize", {"protocolVersion": version})


def failed(id_: int | str = 0) -> ErrorResponse:
    return ErrorResponse(id_, "initialize", v1.Error(code=-32602, message="no"))


def after(*said: tuple[Side, Message]) -> Lifecycle:
    lifecycle = Lifecycle()
    for sender, message in said:
        lifecycle.see(sender, message)
    return lifecycle


def ready(version: int) -> Lifecycle:
    return after(("client", INITIALIZE), ("agent", answered(version)))


@pytest.mark.requirement("R2", "R43")
@pytest.mark.parametrize("method", ["session/new", "authenticate", "session/list", "_acme/do", "no/such"])
def test_requests_before_the_response_to_initialize_are_refused(method: str) -> None:
    for lifecycle in (after(), after(("client", INITIALIZE)), after(("client", INITIALIZE), ("agent", failed()))):
        with pytest.raises(NotInitialized) as caught:
            lifecycle.check(method)
        assert (caught.value.code, caught.value.method) == (-32600, method)
        for message in (Request(1, method, {}), Notification(method, {})):
            with pytest.raises(NotInitialized):
                lifecycle.see("client", message)
    ready(1).check(method)


def test_an_agent_must_wait_for_initialize_too() -> None:
    for message in (Request(0, "fs/read_text_file", {}), Notification("session/update", {}), INITIALIZE):
        with pytest.raises(NotInitialized):
            after(("client", INITIALIZE)).see("agent", message)
        ready(1).see("agent", message)


@pytest.mark.requirement("R2")
def test_a_message_that_came_too_early_has_no_effect() -> None:
    lifecycle = Lifecycle()
    with pytest.raises(NotInitialized):
        lifecycle.see("client", NEW)
    lifecycle.see("client", INITIALIZE)
    lifecycle.see("agent", answered(2))
    assert (lifecycle.is_ready, lifecycle.version) == (True, 2)
    # It has no response yet, so it does not count as another request before a second initialize.
    lifecycle.see("client", INITIALIZE)


ASKED: tuple[Side, Message] = ("client", INITIALIZE)
TYPED = AgentHandshake(info=INFO).answer({"protocolVersion": 1}).result
CANCEL: tuple[Side, Message] = ("client", Notification("$/cancel_request", {"requestId": 0}))
OTHERS: list[tuple[Side, Message]] = [
    ("agent", answered(1, 7)),
    ("agent", answered(1, "0")),
    ("client", answered(1)),
    ("agent", BadLine(-32700, "?", None)),
]
OUTCOMES: list[Any] = [
    ([ASKED, ("agent", Response(0, "initialize", TYPED))], "ready", 1),
    *(([ASKED, ("agent", answered(version))], "new", None) for version in NO_VERSIONS),
    *(([ASKED, said], "initializing", None) for said in OTHERS),
    *(([("agent", answered(1, id_))], "new", None) for id_ in (0, None)),
    ([ASKED, ("agent", answered(1)), ("agent", INITIALIZE)], "ready", 1),
    *(
        ([("client", Request(id_, "initialize", {})), ("agent", answered(1, id_))], "ready", 1)
        for id_ in (0, 1, "", "x")
    ),
    ([("client", Request(0, "proxy/initialize", {})), ("agent", answered(2))], "ready", 2),
    ([CANCEL, ASKED, CANCEL], "initializing", None),
]


@pytest.mark.requirement("R9", "R19", "R20")
@pytest.mark.parametrize(("said", "phase", "version"), OUTCOMES)
def test_only_the_response_to_initialize_completes_it(
    said: list[tuple[Side, Message]], phase: Phase, version: int | None
) -> None:
    lifecycle = after(*said)
    assert (lifecycle.phase, lifecycle.version) == (phase, version)


@pytest.mark.parametrize("answer", [failed(), BadResponse(0, "initialize", "no"), Response(0, "initialize", None)])
def test_initialize_may_be_repeated_after_a_failure(answer: Message) -> None:
    lifecycle = after(("client", INITIALIZE), ("agent", answer))
    assert (lifecycle.phase, lifecycle.version) == ("new", None)
    lifecycle.see("client", Request("again", "initialize", {}))
    lifecycle.see("agent", answered(1, "again"))
    assert lifecycle.is_ready


def test_a_second_initialize_waits_for_the_first() -> None:
    with pytest.raises(InitializedAlready, match="while it was being answered") as caught:
        after(("client", INITIALIZE)).check("initialize")
    assert caught.value.code == -32600


def test_a_repeated_initialize_is_fine_in_v1_and_in_v2_only_before_other_requests() -> None:
    for version in (1, 2):
        lifecycle = ready(version)
        lifecycle.see("agent", Request(7, "session/request_permission", {}))
        lifecycle.check("initialize")
        lifecycle.see("client", NEW)
        lifecycle.see("agent", Response(1, "session/new", {}))
        if version == 1:
            lifecycle.check("initialize")
        else:
            with pytest.raises(InitializedAlready, match="after other requests"):
                lifecycle.check("initialize")


def test_a_repeated_initialize_that_failed_leaves_the_first_in_effect() -> None:
    lifecycle = ready(2)
    lifecycle.see("client", Request(5, "initialize", {}))
    with pytest.raises(NotInitialized):
        lifecycle.check("session/new")
    lifecycle.see("agent", failed(5))
    assert (lifecycle.is_ready, lifecycle.version) == (True, 2)
    lifecycle.check("session/new")

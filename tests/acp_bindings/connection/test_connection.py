"""Two ends of a connection, over a real socket: what is asked, told, answered, given up, and in which order."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
import json
import logging
import pickle
from contextlib import suppress
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import AcpError, v1, v2
from acp_bindings.connection import (
    BadAnswer,
    CannotStart,
    Connection,
    ConnectionClosed,
    Handlers,
    RequestFailed,
    TimedOut,
)
from acp_bindings.errors import Issue
from acp_bindings.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR, REQUEST_CANCELLED
from acp_bindings.setup import OPENING, AgentHandshake, ClientHandshake, InvalidParams, RequestError
from tests.acp_bindings.connection.support import HELLO, NEW, PROMPT, Bare, against, both, streams

pytestmark = pytest.mark.anyio

SECRET = "sk-hunter2-never-shown"

COLOUR: ContextVar[str] = ContextVar("colour", default="none")


async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id=f"session of {request.cwd}")


async def forever(params: Any, connection: Connection) -> None:
    await anyio.sleep_forever()


def nothing(params: Any, connection: Connection) -> None:
    """The empty answer."""


def an_x(params: Any, connection: Connection) -> str:
    return "x"


def much(params: Any, connection: Connection) -> str:
    return "x" * 1000


def by_name(params: Any, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id="by name")


def one(params: Any, connection: Connection) -> int:
    return 1


def same(params: Any, connection: Connection) -> Any:
    return params


def in_a_list(params: Any, connection: Connection) -> list[Any]:
    return [params, None]


def into(heard: list[Any]) -> Any:
    def hear(params: Any, connection: Connection) -> None:
        heard.append(params)

    return hear


def an_answer(id_: int) -> dict[str, Any]:
    return {"id": id_, "result": {}}


def doing(id_: int | str, params: Any = None) -> dict[str, Any]:
    return {"id": id_, "method": "_acme/do", "params": params}


class TestAsking:
    async def test_a_request_is_answered(self) -> None:
        async with both(agent={v1.NewSessionRequest: new_session}) as (_, client):
            assert await client.request(NEW) == v1.NewSessionResponse(session_id="session of /project")

    async def test_either_side_asks(self) -> None:
        def read(request: v1.ReadTextFileRequest, connection: Connection) -> v1.ReadTextFileResponse:
            return v1.ReadTextFileResponse(content=f"content of {request.path}")

        async with both(client={v1.ReadTextFileRequest: read}) as (agent, _):
            answer = await agent.request(v1.ReadTextFileRequest(session_id="s", path="/file"))
        assert answer == v1.ReadTextFileResponse(content="content of /file")

    async def test_an_extension_carries_plain_json(self) -> None:
        async with both(agent={"_acme/do": in_a_list}) as (_, client):
            assert await client.request({"a": 1}, method="_acme/do") == [{"a": 1}, None]

    async def test_a_handler_that_gives_nothing_gives_the_empty_answer(self) -> None:
        async with both(agent={v1.SetSessionModeRequest: nothing}) as (_, client):
            answer = await client.request(v1.SetSessionModeRequest(session_id="s", mode_id="m"))
        assert answer == v1.SetSessionModeResponse()

    async def test_an_answer_that_could_be_empty_and_is_not_is_given_as_it_is(self) -> None:
        answer = v1.LoadSessionResponse(modes=v1.SessionModeState(current_mode_id="m", available_modes=[]))

        def load(request: v1.LoadSessionRequest, connection: Connection) -> v1.LoadSessionResponse:
            return answer

        async with both(agent={v1.LoadSessionRequest: load}) as (_, client):
            asked = v1.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[])
            assert await client.request(asked, timeout=5) == answer

    async def test_a_handler_may_give_what_is_to_be_awaited(self) -> None:
        def later(request: v1.NewSessionRequest, connection: Connection) -> Any:
            return new_session(request, connection)

        async with both(agent={v1.NewSessionRequest: later}) as (_, client):
            assert (await client.request(NEW, timeout=5)).session_id == "session of /project"

    async def test_fifty_requests_at_once_get_their_own_answers(self) -> None:
        async def slowly(params: list[int], connection: Connection) -> list[int]:
            # The first ones take longest.
            for _ in range(50 - params[0]):
                await anyio.lowlevel.checkpoint()
            return params

        answers: dict[int, Any] = {}

        async def ask(client: Connection, number: int) -> None:
            answers[number] = await client.request([number], method="_acme/do")

        async with both(agent={"_acme/do": slowly}) as (_, client), anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(ask, client, number)
        assert answers == {number: [number] for number in range(50)}

    async def test_a_slow_handler_does_not_block_others(self) -> None:
        release = anyio.Event()

        async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
            await release.wait()
            return v1.PromptResponse(stop_reason="end_turn")

        answers: list[Any] = []

        async def ask(client: Connection) -> None:
            answers.append(await client.request(PROMPT))

        agent: dict[Any, Any] = {v1.PromptRequest: prompt, v1.NewSessionRequest: new_session}
        async with both(agent=agent) as (_, client), anyio.create_task_group() as tasks:
            tasks.start_soon(ask, client)
            await client.request(NEW, timeout=5)
            assert answers == []
            release.set()
        assert answers == [v1.PromptResponse(stop_reason="end_turn")]

    async def test_large_messages_go_both_ways(self) -> None:
        text = "x" * 3_000_000
        async with both(agent={"_acme/do": same}) as (_, client):
            assert await client.request([text], method="_acme/do", timeout=20) == [text]

    async def test_lines_of_many_tasks_are_never_mixed(self) -> None:
        heard: list[Any] = []

        async def tell(connection: Connection, number: int) -> None:
            for size in (10, 100_000, 1, 70_000):
                await connection.notify([number, "x" * size], method="_acme/did")

        agent: dict[Any, Any] = {"_acme/did": into(heard), "_acme/do": nothing}
        async with both(agent=agent) as (_, client):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(tell, client, number)
            await client.request(method="_acme/do", timeout=10)
        sizes = {number: [len(text) for each, text in heard if each == number] for number in range(20)}
        assert sizes == {number: [10, 100_000, 1, 70_000] for number in range(20)}


class TestErrors:
    async def test_what_nothing_handles_is_no_method(self) -> None:
        calls: list[tuple[Any, str | None]] = [(NEW, None), (None, "_acme/do")]
        async with both() as (_, client):
            for params, method in calls:
                with pytest.raises(RequestFailed) as caught:
                    await client.request(params, method=method)
                assert caught.value.code == METHOD_NOT_FOUND

    async def test_an_error_that_is_meant_for_the_peer_is_sent_as_it_is(self) -> None:
        async def refuse(*_: Any) -> None:
            async with anyio.create_task_group():
                raise RequestError(-32000, "Log in first", data={"hint": ["x"]})

        async with both(agent={v1.NewSessionRequest: refuse}) as (_, client):
            with pytest.raises(RequestFailed) as caught:
                await client.request(NEW)
        assert str(caught.value) == "session/new: Log in first (-32000)"
        assert (caught.value.method, caught.value.code, caught.value.message) == ("session/new", -32000, "Log in first")
        assert caught.value.data == {"hint": ["x"]}

    @pytest.mark.parametrize("waits", [True, False])
    async def test_the_peer_learns_nothing_of_what_a_handler_raised(
        self, waits: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(*_: Any) -> None:
            raise ValueError(SECRET)

        async def fail_later(*_: Any) -> None:
            fail()

        async with against({"_acme/do": fail_later if waits else fail}) as (_, peer):
            await peer.say(doing(1))
            assert await peer.hear() == {"id": 1, "error": {"code": INTERNAL_ERROR, "message": "Internal error"}}
        assert [record.getMessage() for record in caplog.records] == ["the handler of _acme/do failed"]
        assert caplog.records[0].exc_info

    @pytest.mark.parametrize(
        "wrong",
        [v1.PromptResponse(stop_reason="end_turn"), None, {"sessionId": "s"}, RequestError(1, "x", data=object())],
    )
    async def test_a_handler_that_gives_what_is_no_answer_has_failed(
        self, wrong: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def handle(*_: Any) -> Any:
            if isinstance(wrong, Exception):
                raise wrong
            return wrong

        async with both(agent={v1.NewSessionRequest: handle}) as (_, client):
            with pytest.raises(RequestFailed) as caught:
                await client.request(NEW)
        assert caught.value.code == INTERNAL_ERROR
        assert len(caplog.records) == 1

    async def test_an_answer_that_is_none_is_told_with_the_field(self) -> None:
        async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:

            async def answer() -> None:
                asked = await peer.hear()
                await peer.say({"id": asked["id"], "result": {"sessionId": 5}})

            tasks.start_soon(answer)
            with pytest.raises(
                BadAnswer, match=r"session/new: the answer cannot be used: .*sessionId: Input"
            ) as caught:
                await client.request(NEW)
            assert [issue.path for issue in caught.value.issues] == [("sessionId",)]

    def test_of_an_answer_with_much_wrong_the_first_is_told_and_how_much_more_there_is(self) -> None:
        error = BadAnswer("m", "its result is no R", [Issue((name,), "missing", "Field required") for name in "abcde"])
        assert str(error) == (
            "m: the answer cannot be used: its result is no R; "
            "a: Field required; b: Field required; c: Field required; 2 more"
        )
        assert len(error.issues) == 5
        assert str(BadAnswer("m", "bad")) == "m: the answer cannot be used: bad"

    async def test_a_handler_of_a_notification_that_fails_costs_that_message_alone(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        heard: list[Any] = []

        async def hear(params: Any, connection: Connection) -> None:
            heard.append(params)
            raise ValueError

        def hear_at_once(params: Any, connection: Connection) -> None:
            heard.append(params)
            raise ValueError

        handlers: dict[Any, Any] = {"_acme/did": hear, "_acme/done": hear_at_once, "_acme/do": nothing}
        async with against(handlers) as (_, peer):
            await peer.say(
                *({"method": name, "params": 1} for name in ("_acme/done", "_acme/did", "_acme/done")), doing(1)
            )
            assert await peer.hear() == {"id": 1, "result": None}
        assert heard == [1, 1, 1]
        assert len(caplog.records) == 3

    async def test_what_cannot_be_sent_is_not_asked(self) -> None:
        async with both() as (agent, client):
            with pytest.raises(ValueError, match="the agent does not send it"):
                await agent.request(NEW)
            with pytest.raises(TypeError, match="no method"):
                await client.notify(NEW)
            assert not client._calls
            assert not agent._calls

    async def test_an_exception_of_the_block_comes_out_as_it_is(self) -> None:
        with pytest.raises(KeyError, match="mine"):
            async with both():
                raise KeyError("mine")

    def test_errors_can_be_copied_and_sent_elsewhere(self) -> None:
        errors = [
            CannotStart("agent", "no such program"),
            ConnectionClosed("gone", method="m", exit_status=3, stderr=["x"]),
            TimedOut("m", 2),
            RequestFailed("m", -1, "x", data={"y": 1}),
            BadAnswer("m", "bad", [Issue(("a",), "missing", "Field required")]),
        ]
        for error in errors:
            assert isinstance(error, AcpError)
            for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
                assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


class TestOrder:
    @pytest.mark.parametrize("slow", [True, False])
    async def test_updates_are_handled_in_order_and_before_the_answer_that_follows_them(self, slow: bool) -> None:
        heard: list[int] = []

        async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
            for number in range(300):
                await connection.notify([number], method="_acme/did")
            return v1.PromptResponse(stop_reason="end_turn")

        async def hear(params: list[int], connection: Connection) -> None:
            await anyio.lowlevel.checkpoint()
            heard.extend(params)

        def hear_at_once(params: list[int], connection: Connection) -> None:
            heard.extend(params)

        async with both(agent={v1.PromptRequest: prompt}, client={"_acme/did": hear if slow else hear_at_once}) as (
            _,
            client,
        ):
            for _ in range(3):
                heard.clear()
                await client.request(PROMPT)
                assert heard == list(range(300))

    async def test_handlers_of_both_kinds_keep_the_order(self) -> None:
        heard: list[Any] = []

        async def wait(params: Any, connection: Connection) -> None:
            await anyio.lowlevel.checkpoint()
            heard.append(params)

        def later(params: Any, connection: Connection) -> Any:
            return wait(params, connection)

        handlers: dict[Any, Any] = {"_a": wait, "_b": into(heard), "_c": later, "_acme/do": nothing}
        async with against(handlers) as (_, peer):
            names = ["_a", "_b", "_c", "_b", "_b", "_a", "_c", "_c", "_b"] * 20
            await peer.say(*({"method": name, "params": [n]} for n, name in enumerate(names)), doing(1))
            await peer.hear()
        assert heard == [[n] for n in range(len(names))]

    async def test_a_request_begins_when_the_updates_before_it_are_handled(self) -> None:
        seen: list[str] = []

        async def hear(params: Any, connection: Connection) -> None:
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            seen.append("told")

        async def ask(params: Any, connection: Connection) -> None:
            seen.append("asked")

        async with against({"_acme/did": hear, "_acme/do": ask}) as (_, peer):
            await peer.say({"method": "_acme/did"}, doing(1))
            await peer.hear()
        assert seen == ["told", "asked"]

    async def test_a_request_has_begun_when_what_follows_it_is_handled(self) -> None:
        prompting: set[str] = set()
        seen: list[bool] = []

        async def prompt(request: v1.PromptRequest, connection: Connection) -> None:
            prompting.add(request.session_id)

        def cancel(request: v1.CancelNotification, connection: Connection) -> None:
            seen.append(request.session_id in prompting)

        params: dict[str, Any] = {"sessionId": "s", "prompt": []}
        for _ in range(10):
            prompting.clear()
            async with against({v1.PromptRequest: prompt, v1.CancelNotification: cancel}) as (_, peer):
                await peer.say(
                    {"id": 1, "method": "session/prompt", "params": params},
                    {"method": "session/cancel", "params": {"sessionId": "s"}},
                )
                await peer.hear()
        assert seen == [True] * 10

    @pytest.mark.parametrize("before", [0, 3])
    @pytest.mark.parametrize("slow", [False, True])
    async def test_who_waits_for_an_answer_goes_on_before_what_follows_it_is_handled(
        self, before: int, *, slow: bool
    ) -> None:
        heard: list[Any] = []

        async def hear(params: Any, connection: Connection) -> None:
            heard.append(params)

        async def ask() -> None:
            await client.request(method="_acme/do", timeout=5)
            heard.append("answer")

        async def serve(params: Any, connection: Connection) -> None:
            heard.append("asked")

        handlers: dict[Any, Any] = {"_acme/did": hear if slow else into(heard), "_acme/do": serve}
        for _ in range(10):
            heard.clear()
            async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                id_ = (await peer.hear())["id"]
                did = [{"method": "_acme/did", "params": [number]} for number in range(before + 3)]
                await peer.say(*did[:before], an_answer(id_), *did[before:])
                await peer.say(doing(1))
                await peer.hear()
            told = [[number] for number in range(before + 3)]
            assert heard == [*told[:before], "answer", *told[before:], "asked"]

    @pytest.mark.parametrize("before", [0, 3])
    async def test_who_waits_for_an_answer_goes_on_before_a_request_that_follows_it_begins(self, before: int) -> None:
        heard: list[Any] = []

        async def ask() -> None:
            await client.request(method="_acme/do", timeout=5)
            heard.append("answer")

        for _ in range(10):
            heard.clear()
            handlers: dict[Any, Any] = {"_acme/did": into(heard), "_acme/do": into(heard)}
            async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                id_ = (await peer.hear())["id"]
                did = [{"method": "_acme/did", "params": [number]} for number in range(before)]
                await peer.say(*did, an_answer(id_), doing(1, ["asked"]))
                await peer.hear()
            assert heard == [*([number] for number in range(before)), "answer", ["asked"]]

    async def test_for_who_gave_up_before_the_answer_was_told_nothing_waits(self) -> None:
        heard: list[Any] = []
        begun, go_on = anyio.Event(), anyio.Event()

        async def hear(params: Any, connection: Connection) -> None:
            heard.append(params)
            begun.set()
            await go_on.wait()

        async with against({"_acme/did": hear, "_acme/do": nothing}, role="client") as (client, peer):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(client.request, method="_acme/do"))
                id_ = (await peer.hear())["id"]
                await peer.say({"method": "_acme/did", "params": [1]}, an_answer(id_))
                await begun.wait()
                tasks.cancel_scope.cancel()
            go_on.set()
            await peer.say({"method": "_acme/did", "params": [2]}, doing(1))
            assert (await peer.hear())["id"] == 1
        assert heard == [[1], [2]]

    async def test_the_handler_of_a_notification_may_ask_the_peer(self) -> None:
        answers: list[Any] = []

        async def hear(params: Any, connection: Connection) -> None:
            answers.append(await connection.request(params, method="_acme/do", timeout=5))

        async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
            for number in range(3):
                await connection.notify([number], method="_acme/did")
            return v1.PromptResponse(stop_reason="end_turn")

        agent: dict[Any, Any] = {v1.PromptRequest: prompt, "_acme/do": same}
        async with both(agent=agent, client={"_acme/did": hear}) as (_, client):
            await client.request(PROMPT, timeout=10)
        assert answers == [[0], [1], [2]]


class TestGivingUp:
    async def test_after_its_time_a_request_is_cancelled_and_its_answer_dropped(self) -> None:
        async with against(role="client") as (client, peer):
            with pytest.raises(TimedOut, match=r"^session/new: no answer within 0\.05 s$") as caught:
                await client.request(NEW, timeout=0.05)
            assert (caught.value.method, caught.value.seconds) == ("session/new", 0.05)
            asked = await peer.hear()
            assert await peer.hear() == {"method": "$/cancel_request", "params": {"requestId": asked["id"]}}
            await peer.say({"id": asked["id"], "result": {"sessionId": "late"}})

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.request, NEW)
                again = await peer.hear()
                assert again["id"] != asked["id"]
                await peer.say({"id": again["id"], "result": {"sessionId": "s"}})
            assert not client._calls
            assert not client._codec.pending

    async def test_a_task_that_is_cancelled_has_its_request_cancelled(self) -> None:
        ended = anyio.Event()

        async def work(*_: Any) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                ended.set()

        async with both(agent={"_acme/do": work}) as (agent, client), anyio.create_task_group() as tasks:
            tasks.start_soon(partial(client.request, method="_acme/do"))
            while not agent._serving._scopes:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True), anyio.fail_after(5):
                await ended.wait()
        assert not client._codec.pending

    async def test_a_request_that_the_peer_cancels_is_answered_so(self) -> None:
        async with against({"_acme/do": forever}) as (agent, peer):
            await peer.say(doing(1), doing("two"))
            await peer.say({"method": "$/cancel_request", "params": {"requestId": "two"}})
            error = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
            assert await peer.hear() == {"id": "two", "error": error}
            await peer.say({"method": "$/cancel_request", "params": {"requestId": 1}})
            assert await peer.hear() == {"id": 1, "error": error}
            assert not agent._serving._scopes

    async def test_a_request_by_the_id_of_one_that_has_ended_can_be_cancelled(self) -> None:
        release = anyio.Event()

        async def work(params: Any, connection: Connection) -> None:
            await (release.wait() if params == ["first"] else anyio.sleep_forever())

        async with against({"_acme/do": work}) as (_, peer):
            await peer.say(doing(1, ["first"]), doing(1, ["second"]))
            await anyio.wait_all_tasks_blocked()
            release.set()
            with anyio.fail_after(5):
                assert (await peer.hear())["result"] is None
                await peer.say({"method": "$/cancel_request", "params": {"requestId": 1}})
                assert (await peer.hear())["error"]["code"] == REQUEST_CANCELLED

    async def test_a_request_that_is_cancelled_before_its_turn_is_not_begun(self) -> None:
        begun: list[Any] = []
        release = anyio.Event()

        async def hold(*_: Any) -> None:
            await release.wait()

        async def work(params: Any, connection: Connection) -> None:
            begun.append(params)

        async with against({"_acme/did": hold, "_acme/do": work}) as (agent, peer):
            await peer.say(
                {"method": "_acme/did"},
                doing(1, [1]),
                doing(2, [2]),
                {"method": "$/cancel_request", "params": {"requestId": 1}},
            )
            while not agent._serving._scopes:
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
            release.set()
            answers = [await peer.hear(), await peer.hear()]
        assert begun == [[2]]
        assert {answer["id"]: "error" in answer for answer in answers} == {1: True, 2: False}

    async def test_a_handler_may_finish_although_it_was_cancelled(self) -> None:
        async def stubborn(*_: Any) -> str:
            try:
                await anyio.sleep_forever()
            finally:
                return "done"  # noqa: B012

        async with against({"_acme/do": stubborn}) as (_, peer):
            await peer.say(doing(1), {"method": "$/cancel_request", "params": {"requestId": 1}})
            answer = await peer.hear()
        assert answer["id"] == 1

    async def test_cancelling_what_is_not_running_does_nothing(self) -> None:
        async with against({"_acme/do": one}) as (_, peer):
            await peer.say({"method": "$/cancel_request", "params": {"requestId": 7}}, doing(1))
            assert await peer.hear() == {"id": 1, "result": 1}


class TestInitialize:
    """What decides how the next line is to be read is done before it is read."""

    async def test_what_follows_initialize_is_read_by_the_version_it_settles_on(self) -> None:
        handlers = Handlers()

        @handlers.on(v1.InitializeRequest)
        async def initialize(request: v1.InitializeRequest, connection: Connection) -> v1.InitializeResponse:
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            connection.protocol = v2
            return v1.InitializeResponse(protocol_version=1)

        @handlers.on(v2.NewSessionRequest)
        async def new(request: v2.NewSessionRequest, connection: Connection) -> v2.NewSessionResponse:
            return v2.NewSessionResponse(session_id="two")

        @handlers.on(v1.NewSessionRequest)
        async def old(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id="one")

        async with against(handlers) as (agent, peer):
            await peer.say(
                {"id": 0, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
                {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
                {"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
            )
            answers = [await peer.hear() for _ in range(3)]
            assert agent.protocol is v2
        by_id = {answer["id"]: answer["result"] for answer in answers}
        assert (by_id[0], by_id[2]) == ({"sessionId": "one"}, {"sessionId": "two"})

    async def test_both_handshakes_settle_a_version(self) -> None:
        info = v1.Implementation(name="example", version="1.0")
        agent_says = AgentHandshake(info=info, protocols=[v1, v2])
        client_says = ClientHandshake(info=info, protocols=[v1])

        async def initialize(params: Any, connection: Connection) -> Any:
            settled = agent_says.answer(params)
            connection.protocol = settled.protocol
            return settled.result

        def settle(result: Any) -> Any:
            peer = client_says.accept(result)
            client.protocol = peer.protocol
            return peer

        handlers: dict[Any, Any] = {"initialize": initialize, v1.NewSessionRequest: new_session}
        one_end, other_end = await streams()
        async with (
            Connection(one_end, one_end, protocol=OPENING, role="agent", handlers=handlers) as agent,
            Connection(other_end, other_end, protocol=OPENING, role="client") as client,
        ):
            with pytest.raises(RequestFailed) as caught:
                await client.request({"protocolVersion": "1.0"}, method="initialize")
            assert caught.value.code == InvalidParams("").code
            peer = await client.request(client_says.request(), method="initialize", then=settle)
            assert (agent.protocol, client.protocol, peer.version) == (v1, v1, 1)
            assert await client.request(NEW) == v1.NewSessionResponse(session_id="session of /project")

    async def test_then_is_called_before_the_next_line_is_read(self) -> None:
        heard: list[Any] = []

        def settle(answer: v1.InitializeResponse) -> int:
            client.protocol = v2
            return answer.protocol_version

        update: dict[str, Any] = {
            "sessionId": "s",
            "update": {"sessionUpdate": "agent_message_chunk", "messageId": "m"},
        }
        update["update"] |= {"content": {"type": "text", "text": "x"}}
        handlers: dict[Any, Any] = {
            each: into(heard) for each in (v1.SessionNotification, v2.UpdateSessionNotification)
        }
        async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:

            async def answer() -> None:
                asked = await peer.hear()
                await peer.say(
                    {"id": asked["id"], "result": {"protocolVersion": 1}},
                    {"method": "session/update", "params": update},
                )

            tasks.start_soon(answer)
            version = await client.request(v1.InitializeRequest(protocol_version=1), then=settle, timeout=5)
            await anyio.wait_all_tasks_blocked()
            assert version == 1
        assert [type(each) for each in heard] == [v2.UpdateSessionNotification]

    async def test_what_then_raises_comes_out_of_the_request(self) -> None:
        def settle(answer: Any) -> None:
            raise KeyError(answer)

        async with both(agent={"_acme/do": an_x}) as (_, client):
            with pytest.raises(KeyError, match="x"):
                await client.request(method="_acme/do", then=settle)
            assert await client.request(method="_acme/do") == "x"

    @pytest.mark.parametrize("asks", [True, False])
    async def test_nothing_is_read_before_an_exclusive_handler_is_done(self, asks: bool) -> None:
        async def settle(params: Any, connection: Connection) -> None:
            await anyio.wait_all_tasks_blocked()
            seen.append(b"done")

        def trace(who: str, line: bytes) -> None:
            if who == "peer":
                seen.append(line)

        seen: list[bytes] = []
        handlers = Handlers({"_acme/do": nothing})
        handlers.on("_acme/settle", exclusive=True)(settle)
        async with against(handlers, trace=trace) as (_, peer):
            await peer.say({"method": "_acme/settle", **({"id": 1} if asks else {})}, doing(2))
            while (await peer.hear())["id"] != 2:
                pass
        assert [b"settle" in each or each == b"done" for each in seen] == [True, True, False]

    @pytest.mark.parametrize("asks", [True, False])
    async def test_an_exclusive_handler_cannot_wait_for_what_is_not_read(
        self, asks: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        handlers = Handlers({"_acme/next": nothing})

        @handlers.on("_acme/do", exclusive=True)
        async def do(params: Any, connection: Connection) -> Any:
            return await connection.request(method="_acme/do")

        async with both(agent=handlers) as (_, client):
            if asks:
                with pytest.raises(RequestFailed, match="Internal error"):
                    await client.request(method="_acme/do", timeout=5)
            else:
                await client.notify(method="_acme/do")
            await client.request(method="_acme/next", timeout=5)
        assert "an exclusive handler cannot ask the peer" in caplog.text

    async def test_what_an_exclusive_handler_starts_may_ask_when_that_is_over(self) -> None:
        go_on = anyio.Event()
        answers: list[Any] = []

        async with anyio.create_task_group() as tasks:

            async def ask(connection: Connection) -> None:
                await go_on.wait()
                answers.append(await connection.request([1], method="_acme/do", timeout=5))

            async def initialize(params: Any, connection: Connection) -> v1.InitializeResponse:
                tasks.start_soon(ask, connection)
                return v1.InitializeResponse(protocol_version=1)

            async with both(agent={v1.InitializeRequest: initialize}, client={"_acme/do": same}) as (_, client):
                await client.request(v1.InitializeRequest(protocol_version=1))
                go_on.set()
                with anyio.fail_after(5):
                    while not answers:
                        await anyio.lowlevel.checkpoint()
        assert answers == [[1]]


class TestHandlers:
    def test_a_class_that_no_method_takes_is_refused(self) -> None:
        for wrong in (v1.NewSessionResponse, v1.TextContent, dict):
            with pytest.raises(TypeError, match=f"no method is called with {wrong.__name__}; name the method"):
                Handlers().on(wrong)

    def test_what_is_neither_a_class_nor_a_name_is_refused(self) -> None:
        secret: Any = v1.PromptRequest(session_id=SECRET, prompt=[])
        given: list[tuple[Any, str]] = [(secret, "PromptRequest"), (nothing, "nothing"), (5, "int")]
        for wrong, name in given:
            with pytest.raises(TypeError, match=f"^a handler is for a class .* or .* name, not for {name}$"):
                Handlers().on(wrong)

    async def test_a_union_of_params_is_registered_whole(self) -> None:
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
        with pytest.raises(ValueError, match=r"^there is a handler for SetSessionConfigOptionRequest already$"):
            handlers.on(v1.SetSessionConfigOptionRequest)(set_option)

    def test_a_part_of_a_union_is_refused_since_its_handler_would_get_the_others_too(self) -> None:
        whole: list[tuple[Any, str]] = [
            (v1.SetSessionConfigOptionRequestBoolean, "SetSessionConfigOptionRequest"),
            (v1.CreateElicitationRequestForm, "CreateElicitationRequest"),
        ]
        for part, name in whole:
            with pytest.raises(TypeError, match=f" alone: take {name}$"):
                Handlers().on(part)

    async def test_the_params_of_several_versions_are_a_union_too(self) -> None:
        def prompted(request: v1.PromptRequest | v2.PromptRequest, connection: Connection) -> v1.PromptResponse:
            return v1.PromptResponse(stop_reason="end_turn")

        handlers = Handlers()
        handlers.on(v1.PromptRequest | v2.PromptRequest)(prompted)
        async with both(agent=handlers) as (_, client):
            assert (await client.request(PROMPT)).stop_reason == "end_turn"
        for taken in (v1.PromptRequest, v2.PromptRequest):
            with pytest.raises(ValueError, match=r"^there is a handler for PromptRequest already$"):
                handlers.on(taken)(prompted)

    @pytest.mark.parametrize("calls", [v1.NewSessionRequest, "session/new", "_acme/do"])
    def test_one_that_could_not_be_called_is_refused_when_it_is_given(self, calls: Any) -> None:
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
            with pytest.raises(TypeError, match="a handler is a function of the params and the connection, which"):
                Handlers({calls: wrong})

    def test_whatever_can_be_called_with_two_arguments_is_taken(self) -> None:
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
    async def test_a_second_one_for_the_same_is_refused_and_the_first_one_stays(self, calls: Any, name: str) -> None:
        handlers = Handlers({calls: by_name})
        with pytest.raises(ValueError, match=f"^there is a handler for {name} already$"):
            handlers.on(calls)(new_session)
        async with both(agent=handlers) as (_, client):
            assert (await client.request(NEW)).session_id == "by name"

    async def test_the_name_of_a_method_goes_before_the_class(self) -> None:
        handlers: dict[Any, Any] = {
            "session/new": by_name,
            v1.NewSessionRequest: new_session,
        }
        async with both(agent=handlers) as (_, client):
            assert (await client.request(NEW)).session_id == "by name"

    async def test_what_a_handler_leaves_in_a_context_variable_it_alone_sees(self) -> None:
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

    async def test_an_object_with_an_async_call_is_a_handler(self) -> None:
        class Handle:
            async def __call__(self, params: Any, connection: Connection) -> Any:
                await anyio.lowlevel.checkpoint()
                return params

        async with both(agent={"_acme/do": Handle()}) as (_, client):
            assert await client.request([1], method="_acme/do") == [1]


class TestOddPeers:
    async def test_garbage_is_answered_and_the_next_line_is_read(self) -> None:
        async with against({"_acme/do": one}) as (_, peer):
            await peer.say(b"Starting...", b"", b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 9}', b"[]", doing(1))
            answers = [await peer.hear() for _ in range(4)]
        assert [answer.get("error", {}).get("code") for answer in answers] == [PARSE_ERROR, PARSE_ERROR, -32600, None]
        assert answers[-1] == {"id": 1, "result": 1}

    async def test_the_last_line_needs_no_newline(self) -> None:
        heard: list[Any] = []
        async with against({"_acme/did": into(heard)}) as (agent, peer):
            await peer.stream.send(b'{"jsonrpc": "2.0", "method": "_acme/did", "params": [1]}')
            await peer.stream.send_eof()
            with anyio.fail_after(5):
                await agent.wait_ended()
        assert heard == [[1]]

    async def test_a_line_that_is_too_long_is_answered_and_ends_the_connection(self) -> None:
        async with against(limit=1000) as (agent, peer), anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(ConnectionClosed, match="a line has more than 1000 bytes"):
                    await agent.request(v1.ReadTextFileRequest(session_id="s", path="/file"))

            tasks.start_soon(ask)
            await peer.hear()
            await peer.say(b"x" * 1001)
            assert (await peer.hear())["error"]["code"] == PARSE_ERROR
            with anyio.fail_after(5):
                end = await agent.wait_ended()
            assert end.reason == "the peer is not read any further, since a line has more than 1000 bytes"

    async def test_the_end_of_the_stream_fails_what_is_pending_after_what_came_before_it(self) -> None:
        heard: list[Any] = []

        async def hear(params: Any, connection: Connection) -> None:
            await anyio.lowlevel.checkpoint()
            heard.append(params)

        async with against({"_acme/did": hear}, role="client") as (client, peer), anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(ConnectionClosed) as caught:
                    await client.request(NEW)
                assert str(caught.value) == "session/new: the peer closed the connection"
                assert heard == [[0], [1], [2]]

            tasks.start_soon(ask)
            await peer.hear()
            await peer.say(*({"method": "_acme/did", "params": [n]} for n in range(3)))
            await peer.stream.aclose()
        with anyio.fail_after(5), pytest.raises(ConnectionClosed):
            await client.request(NEW)

    async def test_a_handler_that_asks_when_the_peer_goes_is_told(self) -> None:
        failed: list[Exception] = []

        async def hear(params: Any, connection: Connection) -> None:
            try:
                await connection.request(method="_acme/do")
            except ConnectionClosed as error:
                failed.append(error)

        async with against({"_acme/did": hear}) as (agent, peer):
            await peer.say({"method": "_acme/did"})
            await peer.hear()
            await peer.stream.aclose()
            with anyio.fail_after(5):
                await agent.wait_ended()
        assert len(failed) == 1

    async def test_what_was_asked_before_the_end_is_answered(self) -> None:
        async def work(params: Any, connection: Connection) -> Any:
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            return params

        async with against({"_acme/do": work}) as (agent, peer):
            await peer.say(*(doing(n, [n]) for n in range(5)))
            await peer.stream.send_eof()
            answers = [await peer.hear() for _ in range(5)]
            with anyio.fail_after(5):
                await agent.wait_ended()
        assert {answer["id"]: answer["result"] for answer in answers} == {n: [n] for n in range(5)}

    async def test_a_handler_that_takes_too_long_after_the_end_is_ended(self) -> None:
        async with against({"_acme/do": forever}, grace=0.05) as (agent, peer):
            await peer.say(doing(1))
            await peer.stream.send_eof()
            with anyio.fail_after(4):
                await agent.wait_ended()

    async def test_when_one_handler_finds_that_nobody_listens_all_are_ended(self) -> None:
        async def talk(params: Any, connection: Connection) -> None:
            while True:
                await connection.notify(HELLO)
                await anyio.sleep(0.001)

        async with against({"_acme/do": talk, "_acme/stay": forever}, grace=60) as (agent, peer):
            await peer.say({"id": 0, "method": "_acme/stay"}, doing(1))
            await peer.hear()
            await peer.stream.aclose()
            with anyio.fail_after(10):
                await agent.wait_ended()
            with pytest.raises(ConnectionClosed):
                await agent.notify(HELLO)

    async def test_only_that_its_own_peer_has_gone_is_no_failure_of_a_handler(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        going = anyio.Event()

        async def of_another(params: Any, connection: Connection) -> None:
            raise ConnectionClosed("another has gone")

        async def talk(params: Any, connection: Connection) -> None:
            going.set()
            await connection.request(method="_acme/back")

        async with against({"_acme/other": of_another, "_acme/talk": talk}) as (agent, peer):
            await peer.say({"id": 0, "method": "_acme/other"})
            await peer.hear()
            assert [record.levelno for record in caplog.records] == [logging.ERROR]
            caplog.clear()
            await peer.say({"id": 1, "method": "_acme/talk"})
            with anyio.fail_after(5):
                await going.wait()
                await peer.hear()
                await peer.stream.aclose()
                await agent.wait_ended()
        assert [record for record in caplog.records if record.levelno > logging.DEBUG] == []

    async def test_a_failure_of_a_handler_is_one_also_when_its_peer_has_gone(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        going = anyio.Event()

        async def fail(params: Any, connection: Connection) -> None:
            await going.wait()
            raise ValueError

        async with against({"_acme/do": fail}) as (agent, peer):
            await peer.say(doing(1))
            await peer.stream.send_eof()
            with anyio.fail_after(5):
                while not agent._serving._ending:
                    await anyio.lowlevel.checkpoint()
                going.set()
                await agent.wait_ended()
        assert [record.levelno for record in caplog.records] == [logging.ERROR]

    async def test_streams_that_somebody_else_closes_are_an_end_as_any(self) -> None:
        async with against(role="client") as (client, _), anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(ConnectionClosed):
                    await client.request(NEW)

            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await client._sink.aclose()
            await client.notify(v1.CancelNotification(session_id="s"))
            with anyio.fail_after(5):
                await client.wait_ended()
                with pytest.raises(ConnectionClosed):
                    await client.notify(v1.CancelNotification(session_id="s"))

    async def test_an_error_about_a_line_of_ours_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        async with against({"_acme/do": one}) as (_, peer):
            await peer.say({"id": None, "error": {"code": PARSE_ERROR, "message": "Parse error"}}, doing(1))
            await peer.hear()
        assert [record.levelno for record in caplog.records] == [logging.WARNING]


class TestBounds:
    async def test_a_peer_that_does_not_read_holds_up_who_sends(self) -> None:
        sent = 0

        async def talk(connection: Connection) -> None:
            nonlocal sent
            while True:
                await connection.notify(["x" * 1000], method="_acme/did")
                sent += 1

        async with against() as (agent, _):
            with anyio.move_on_after(0.5):
                await talk(agent)
            held = sum(map(len, agent._outbox._lines))
            # What the kernel takes, what is being written and what waits; not what could be sent in that time.
            assert sent * 1000 < 2_000_000
            assert held < 100_000

    async def test_requests_of_a_peer_that_does_not_read_answers_are_not_read_without_end(self) -> None:
        async with against({"_acme/do": much}, most_requests=100) as (agent, peer):
            line = json.dumps({"jsonrpc": "2.0", **doing(1)}).encode() + b"\n"
            assert await self._flood(peer.stream, line * 100) < 3_000_000
            assert agent._serving._requests <= 100 + 65536 // len(line) + 1

    async def test_garbage_of_a_peer_that_does_not_read_answers_is_not_read_without_end(self) -> None:
        async with against() as (_, peer):
            assert await self._flood(peer.stream, b"garbage\n" * 1000) < 3_000_000

    async def test_a_flood_is_read_no_further_than_handlers_come(self) -> None:
        async with against({"_acme/did": forever}) as (agent, peer):
            line = json.dumps({"jsonrpc": "2.0", "method": "_acme/did", "params": "x" * 100}).encode() + b"\n"
            assert await self._flood(peer.stream, line * 100) < 3_000_000
            assert len(agent._serving._backlog) < 1000 + 65536 // len(line) + 1

    async def test_a_flood_with_large_messages_is_read_by_bytes(self) -> None:
        async with against({"_acme/did": forever}) as (_, peer):
            line = json.dumps({"jsonrpc": "2.0", "method": "_acme/did", "params": "x" * 1_000_000}).encode() + b"\n"
            assert await self._flood(peer.stream, line) < 13_000_000

    @pytest.mark.parametrize("most_requests", [1, 100])
    async def test_requests_whose_handlers_ask_in_return_do_not_hold_up_what_they_wait_for(
        self, most_requests: int
    ) -> None:
        async def ask(params: Any, connection: Connection) -> Any:
            return await connection.request(params, method="_acme/back")

        answers: list[Any] = []

        async def call(client: Connection, number: int) -> None:
            answers.extend(await client.request([number], method="_acme/do"))

        with anyio.fail_after(20):
            async with (
                both(agent={"_acme/do": ask}, client={"_acme/back": same}, most_requests=most_requests) as (_, client),
                anyio.create_task_group() as tasks,
            ):
                for number in range(300):
                    tasks.start_soon(call, client, number)
        assert sorted(answers) == list(range(300))

    async def test_an_update_whose_handler_asks_gets_its_answer_although_many_came_before_that(self) -> None:
        answers: list[Any] = []

        async def hear(params: Any, connection: Connection) -> None:
            answers.append(await connection.request(params, method="_acme/back"))

        async def talk(params: Any, connection: Connection) -> None:
            for number in range(3000):
                await connection.notify([number, "x" * 3000], method="_acme/did")

        agent: dict[Any, Any] = {"_acme/do": talk, "_acme/back": an_x}
        with anyio.fail_after(30):
            async with both(agent=agent, client={"_acme/did": hear}) as (_, client):
                await client.request(method="_acme/do")
        assert answers == ["x"] * 3000

    @pytest.mark.parametrize("size", [100, 1_000_000])
    async def test_a_flood_is_bounded_although_a_handler_waits_for_an_answer(
        self, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def hear(params: Any, connection: Connection) -> None:
            await connection.request(method="_acme/back")

        async with against({"_acme/did": hear}) as (agent, peer):
            line = json.dumps({"jsonrpc": "2.0", "method": "_acme/did", "params": "x" * size}).encode() + b"\n"
            with monkeypatch.context() as smaller:
                smaller.setattr("acp_bindings.connection.serving._WHILE_ASKING", 2)
                await peer.say({"method": "_acme/did"})
                await peer.hear()
                assert await self._flood(peer.stream, line * max(1, 10_000 // size)) < 25_000_000
                assert 1000 < len(agent._serving._backlog) < 2000 + 65536 // len(line) + 1 or size > 100

    async def test_when_the_answer_has_come_the_bounds_are_what_they_were(self) -> None:
        async def ask(params: Any, connection: Connection) -> None:
            await connection.request(method="_acme/back")
            await anyio.sleep_forever()

        async with against({"_acme/do": ask}, most_requests=1) as (agent, peer):
            await peer.say(doing(1))
            asked = await peer.hear()
            assert not agent._serving.is_crowded
            await peer.say(an_answer(asked["id"]))
            with anyio.fail_after(5):
                while not agent._serving.is_crowded:
                    await anyio.lowlevel.checkpoint()

    async def test_what_was_sent_at_once_takes_up_no_room(self) -> None:
        async with both(agent={"_acme/do": same}) as (_, client):
            for _ in range(100):
                assert await client.request(["x" * 10_000], method="_acme/do", timeout=5) == ["x" * 10_000]

    async def test_what_has_been_handled_takes_up_no_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("acp_bindings.connection.serving._MOST_BYTES", 10_000)
        heard: list[Any] = []

        async def hear(params: Any, connection: Connection) -> None:
            await anyio.lowlevel.checkpoint()
            heard.append(params)

        async with both(agent={"_acme/did": hear, "_acme/do": nothing}) as (_, client):
            for _ in range(5):
                for _ in range(20):
                    await client.notify(["x" * 1000], method="_acme/did")
                await client.request(method="_acme/do", timeout=5)
        assert len(heard) == 100

    async def test_what_was_held_up_goes_on(self) -> None:
        release = anyio.Event()
        heard: list[Any] = []

        async def hear(params: Any, connection: Connection) -> None:
            await release.wait()
            heard.append(params)

        handlers: dict[Any, Any] = {"_acme/did": hear, "_acme/do": nothing}
        async with both(agent=handlers) as (agent, client), anyio.create_task_group() as tasks:

            async def talk() -> None:
                for number in range(20_000):
                    await client.notify([number], method="_acme/did")
                await client.request(method="_acme/do", timeout=30)

            tasks.start_soon(talk)
            while not agent._serving.is_crowded:
                await anyio.lowlevel.checkpoint()
            release.set()
        assert heard == [[number] for number in range(20_000)]

    async def test_a_flood_of_answers_that_nobody_asked_for_keeps_nothing(self) -> None:
        async with against({"_acme/do": one}) as (agent, peer):
            for number in range(20):
                await peer.say(*(an_answer(n) for n in range(number * 100, number * 100 + 100)))
            await peer.say(doing(1))
            assert await peer.hear() == {"id": 1, "result": 1}
            assert not agent._calls

    @staticmethod
    async def _flood(stream: anyio.abc.UNIXSocketStream, chunk: bytes) -> int:
        """Send for as long as it is read; how many bytes were."""
        sent = 0
        with anyio.move_on_after(1) as scope:
            while True:
                await stream.send(chunk)
                sent += len(chunk)
                scope.deadline = anyio.current_time() + 1
                if sent > 50_000_000:
                    break
        return sent


class TestClosing:
    async def test_what_was_sent_before_the_end_arrives(self) -> None:
        heard: list[Any] = []
        one, other = await streams()
        async with Connection(one, one, protocol=v1, role="agent", handlers={"_acme/did": into(heard)}) as agent:
            async with Connection(other, other, protocol=v1, role="client") as client:
                for number in range(100):
                    await client.notify([number, "x" * 5000], method="_acme/did")
            with anyio.fail_after(5):
                await agent.wait_ended()
        assert [each[0] for each in heard] == list(range(100))

    async def test_the_one_thing_that_was_said_before_the_end_arrives(self) -> None:
        one, other = await streams()
        async with one, other:
            async with Connection(one, one, protocol=v1, role="client") as client:
                await client.notify([1], method="_acme/did")
            assert await Bare(other).hear() == {"method": "_acme/did", "params": [1]}

    @pytest.mark.parametrize("end", ["the peer goes", "the connection is closed"])
    async def test_who_waits_for_room_is_told_of_the_end(self, end: str) -> None:
        failed: list[Exception] = []

        async def talk(connection: Connection) -> None:
            try:
                while True:
                    await connection.notify(["x" * 10_000], method="_acme/did")
            except ConnectionClosed as error:
                failed.append(error)

        with anyio.fail_after(10):
            async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(talk, client)
                while not client._outbox.is_full:
                    await anyio.lowlevel.checkpoint()
                await anyio.wait_all_tasks_blocked()
                if end == "the peer goes":
                    await peer.stream.aclose()
                else:
                    client.close()
        assert len(failed) == 3
        assert not client._outbox._lines

    async def test_after_the_end_nobody_waits_for_room(self) -> None:
        with anyio.fail_after(10):
            async with against(role="client") as (client, _peer), anyio.create_task_group() as tasks:

                async def talk() -> None:
                    with suppress(ConnectionClosed):
                        while True:
                            await client.notify(["x" * 10_000], method="_acme/did")

                tasks.start_soon(talk)
                while not client._outbox.is_full:
                    await anyio.lowlevel.checkpoint()
                await anyio.wait_all_tasks_blocked()
                client.close()
                with pytest.raises(ConnectionClosed, match="the connection was closed"):
                    await client.notify([1], method="_acme/did")

    @pytest.mark.parametrize("end", ["the peer says no more", "nobody waits any more"])
    async def test_a_request_that_ends_before_it_is_sent_is_never_sent(self, end: str) -> None:
        async def talk() -> None:
            for _ in range(100):
                await client.notify(["x" * 10_000], method="_acme/did")

        async def ask() -> None:
            if end == "the peer says no more":
                with pytest.raises(ConnectionClosed, match="_acme/do: the peer closed the connection"):
                    await client.request(method="_acme/do")
            else:
                with pytest.raises(TimedOut):
                    await client.request(method="_acme/do", timeout=0.01)
            told.set()
            await client.notify(method="_acme/last")

        told = anyio.Event()
        methods: set[str] = set()
        with anyio.fail_after(10):
            async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:
                tasks.start_soon(talk)
                while not client._outbox.is_full:
                    await anyio.lowlevel.checkpoint()
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(ask)
                await anyio.wait_all_tasks_blocked()
                if end == "the peer says no more":
                    await peer.stream.send_eof()
                await told.wait()
                while "_acme/last" not in methods:
                    methods.add((await peer.hear())["method"])
                tasks.cancel_scope.cancel()
        assert methods == {"_acme/did", "_acme/last"}

    async def test_over_pipes_too_a_peer_that_leaves_is_an_end_as_any(self) -> None:
        with anyio.fail_after(10):
            async with both() as (agent, client), anyio.create_task_group() as tasks:

                async def ask() -> None:
                    with pytest.raises(ConnectionClosed):
                        await agent.request(v1.ReadTextFileRequest(session_id="s", path="x" * 1_000_000))

                # Nobody reads it.
                client._reading.cancel()
                tasks.start_soon(ask)
                await anyio.wait_all_tasks_blocked()
                await client._source.aclose()
                await agent.wait_ended()
                for _ in range(2):
                    with pytest.raises(ConnectionClosed):
                        await agent.notify(HELLO)
                assert not agent._outbox._lines

    async def test_a_peer_that_does_not_read_does_not_hold_up_the_end(self) -> None:
        with anyio.fail_after(10):
            async with against() as (agent, _):
                with anyio.move_on_after(0.2):
                    while True:
                        await agent.notify(["x" * 1000], method="_acme/did")

    async def test_closing_fails_what_is_pending(self) -> None:
        async with both(agent={"_acme/do": forever}) as (_, client), anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(ConnectionClosed, match="_acme/do: the connection was closed"):
                    await client.request(method="_acme/do")

            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            client.close()
            client.close()
            assert str(await client.wait_ended()) == "the connection was closed"
            assert repr(client) == "<Connection of client, closed: the connection was closed>"

    async def test_who_waits_for_the_end_outside_of_a_cancelled_block_is_told_while_that_still_cleans_up(self) -> None:
        one, other = await streams()
        connection = Connection(one, one, protocol=v1, role="agent")
        told: list[str] = []
        heard = anyio.Event()

        async def wait() -> None:
            told.append((await connection.wait_ended()).reason)
            heard.set()

        with anyio.fail_after(5):
            async with other, anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                with anyio.CancelScope() as scope:
                    async with connection:
                        scope.cancel()
                        with anyio.move_on_after(2, shield=True):
                            await heard.wait()
        assert told == ["the connection was closed"]

    @pytest.mark.parametrize("method", ["_acme/do", "_acme/wait", "initialize"])
    async def test_what_arrives_when_the_handlers_have_ended_is_dropped(self, method: str) -> None:
        class Late:
            """What arrives although nobody waits for it any more."""

            async def receive(self, max_bytes: int = 65536, /) -> bytes:
                if arrived.is_set():
                    await anyio.sleep_forever()
                with anyio.CancelScope(shield=True):
                    await arrived.wait()
                return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}).encode() + b"\n"

            async def aclose(self) -> None:
                """Nothing is open."""

        arrived = anyio.Event()
        handlers = {"_acme/do": nothing, "_acme/wait": forever, "initialize": nothing}
        other, sink = await streams()
        with anyio.fail_after(5):
            async with other:
                with anyio.CancelScope() as scope:
                    async with Connection(Late(), sink, protocol=v1, role="agent", handlers=handlers) as agent:
                        await anyio.wait_all_tasks_blocked()
                        scope.cancel()
                        # The block has still something to do.
                        with anyio.CancelScope(shield=True):
                            await agent.wait_ended()
                            arrived.set()
                            await anyio.wait_all_tasks_blocked()

    async def test_a_handler_that_asks_when_the_connection_is_closed_has_not_failed(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def ask(params: Any, connection: Connection) -> None:
            await connection.request(method="_acme/back")

        with anyio.fail_after(5):
            async with against({"_acme/ask": ask}) as (agent, peer):
                await peer.say({"id": 1, "method": "_acme/ask"}, {"method": "_acme/ask"})
                await peer.hear()
                await peer.hear()
                agent.close()
        assert "failed" not in caplog.text

    @pytest.mark.parametrize("asks", [True, False])
    async def test_no_handler_begins_when_one_before_it_has_closed_the_connection(self, asks: bool) -> None:
        def leave(params: Any, connection: Connection) -> None:
            begun.append(params)
            connection.close()

        begun: list[Any] = []
        with anyio.fail_after(5):
            async with against({"_acme/do": leave}) as (agent, peer):
                messages = [{"method": "_acme/do", "params": [number]} for number in range(3)]
                await peer.say(*({**each, "id": 1} if asks else each for each in messages))
                await agent.wait_ended()
        assert begun == [[0]]

    async def test_a_handler_may_close_the_connection(self) -> None:
        async def leave(params: Any, connection: Connection) -> None:
            connection.close()

        async with against({"_acme/did": leave}) as (agent, peer):
            await peer.say({"method": "_acme/did"})
            with anyio.fail_after(5):
                await agent.wait_ended()

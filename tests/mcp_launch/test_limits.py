"""Messages are limited on every transport, and messages within the limits are not changed."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskStatus
from mcp import MCPError
from mcp.server import MCPServer
from mcp_types import JSONRPCResponse, LoggingMessageNotificationParams, jsonrpc_message_adapter
from pydantic import ValidationError

import mcp_launch
from acp_bindings import v1
from acp_bindings._events import EventBuffer, EventTooLong
from mcp_launch import Budgets, Limits, Options, UnusableInput
from mcp_launch._transports import messages
from mcp_launch._transports.messages import Invalid, Reader
from mcp_launch.options import DEEPEST
from tests.mcp_launch.servers.raw import Request, event, head, raw_server, reply
from tests.mcp_launch.servers.sends import answers
from tests.mcp_launch.servers.stalls import Web
from tests.mcp_launch.support import SERVERS, Marked, http

pytestmark = [
    pytest.mark.anyio,
    # The SDK and httpx2 leave generators unfinished where an answer breaks off, at which trio complains.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning"),
]
EVERYWHERE = pytest.mark.parametrize("transport", ["stdio", "http", "stream", "sse"])
"""Stdio, Streamable HTTP with a JSON body and with an event stream, and SSE."""
WITH_NOTIFICATIONS = pytest.mark.parametrize("transport", ["stdio", "stream", "sse"])
DONE = b'{"jsonrpc": "2.0", "id": $ID, "result": {"content": [{"type": "text", "text": "done"}]}}'


@contextmanager
def server(
    transport: str, lines: Sequence[bytes], *, marked: Marked, folder: Path, at: str = "tools/call"
) -> Generator[dict[str, Any]]:
    """Run a server that sends these lines in response to the method, and yield its raw JSON."""
    if transport == "stdio":
        file = folder / "lines"
        file.write_bytes(b"\n".join(lines))
        yield marked.stdio("server", sys.executable, "-S", str(SERVERS / "sends.py"), at, str(file))
        return
    said: list[bytes] = []

    def answer(request: Request) -> Iterator[bytes]:
        if request.method == "GET" and transport == "sse":
            yield head(content_type="text/event-stream") + event("/post", name="endpoint")
            while not request.released.wait(0.01):
                while said:
                    yield said.pop(0)
        elif request.method != "POST":
            yield reply(405)
        elif not (found := answers(request.message, at, [*lines])):
            yield reply(202)
        elif transport == "http":
            yield reply(200, found[-1])
        elif transport == "stream":
            yield head(content_type="text/event-stream") + b"".join(_event(each) for each in found)
        else:
            said.extend(map(_event, found))
            yield reply(202)

    with raw_server(answer) as raw:
        yield http(f"{raw.origin}/mcp", name="server", kind="sse" if transport == "sse" else "http")


def _event(data: bytes) -> bytes:
    return b"data: %b\n\n" % data


def response(**result: object) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", "id": 0, "result": {"content": [], **result}})
        .encode()
        .replace(b": 0,", b": $ID,", 1)
    )


def nested(levels: int, *, id_last: bool) -> bytes:
    deep = b'{"a":' * levels + b"1" + b"}" * levels
    return (
        b'{"result":%b,"jsonrpc":"2.0","id":$ID}' % deep
        if id_last
        else b'{"jsonrpc":"2.0","id":$ID,"result":%b}' % deep
    )


TOO_DEEP = "it is nested more than 200 levels deep"


@EVERYWHERE
@pytest.mark.parametrize(
    ("limit", "limits", "line", "why"),
    [
        (
            "values",
            Limits(values=200),
            response(structuredContent={"a": [0] * 300}),
            "it has more than 200 JSON values",
        ),
        ("items", Limits(items=20), response(content=[0] * 30), "it has more than 20 items in its lists"),
        ("depth", Limits(), nested(1500, id_last=False), TOO_DEEP),
        ("depth", Limits(), nested(1500, id_last=True), TOO_DEEP),
        ("depth", Limits(), nested(15_000, id_last=True), TOO_DEEP),
    ],
    ids=["values", "items", "depth", "depth, id last", "depth, large"],
)
async def test_a_response_beyond_a_limit_fails_its_request_at_once(
    *, transport: str, limit: str, limits: Limits, line: bytes, why: str, marked: Marked, tmp_path: Path
) -> None:
    with server(transport, [line], marked=marked, folder=tmp_path) as entry, anyio.fail_after(10):
        async with mcp_launch.open_session(entry, cwd=tmp_path, options=Options(limits=limits)) as session:
            with pytest.raises(MCPError, match=why) as raised:
                await session.call_tool("any", {})
            later = await session.call_tool("other", {})

    assert raised.value.error.data == {"code": "invalid_response", "limit": limit}
    assert not later.is_error


@pytest.mark.parametrize("transport", ["http", "stream"])
async def test_a_response_that_is_too_long_fails_its_request(transport: str, marked: Marked, tmp_path: Path) -> None:
    line, options = response(structuredContent={"a": "x" * 30_000}), Options(limits=Limits(bytes=20_000))
    with server(transport, [line], marked=marked, folder=tmp_path) as entry, anyio.fail_after(10):
        async with mcp_launch.open_session(entry, cwd=tmp_path, options=options) as session:
            with pytest.raises(MCPError, match=r"more than 20,000 bytes|longer than 20,000 bytes") as raised:
                await session.call_tool("any", {})
            later = await session.call_tool("other", {})

    data = raised.value.error.data
    assert (data["code"], data["limit"]) == ("invalid_response", "bytes")
    assert not later.is_error


@EVERYWHERE
async def test_a_listing_beyond_a_limit_is_the_failure_of_its_server(
    transport: str, marked: Marked, tmp_path: Path
) -> None:
    lines = [nested(1500, id_last=True)]
    with server(transport, lines, marked=marked, folder=tmp_path, at="tools/list") as entry, anyio.fail_after(10):
        async with mcp_launch.launch([entry], cwd=tmp_path) as fleet:
            [failure] = fleet.failures
        # Trio finishes in tasks of its own what generators the libraries left.
        await anyio.wait_all_tasks_blocked()

    assert (failure.stage, failure.code, failure.facts) == ("list", "invalid_response", {"limit": "depth"})


@WITH_NOTIFICATIONS
@pytest.mark.parametrize("kind", ["notification", "stray"])
async def test_another_message_beyond_a_limit_is_dropped_with_a_warning(
    transport: str, kind: str, marked: Marked, tmp_path: Path
) -> None:
    heard: list[object] = []

    async def listen(params: LoggingMessageNotificationParams) -> None:
        heard.append(params.data)

    start = b'"jsonrpc": "2.0", "method": "notifications/message", ' if kind == "notification" else b'"method": "log", '
    form = b'{%b"params": {"level": "info", "list": %b}}'
    lines = [form % (start, json.dumps([0] * count).encode()) for count in (300, 300, 50)]
    options = Options(limits=Limits(values=200, items=20), logging=listen)
    with server(transport, [*lines, DONE], marked=marked, folder=tmp_path) as entry, anyio.fail_after(10):
        async with mcp_launch.launch([entry], cwd=tmp_path, options=options) as fleet:
            result = await fleet["server"].session.call_tool("any", {})
            warnings = fleet["server"].warnings

    assert not result.is_error
    assert heard == []
    told = [each for each in warnings if "deprecated" not in each]
    for each, why in zip(told, ("it has more than 200 JSON values", "it has more than 20 items"), strict=True):
        assert each.startswith(f"sent a message that exceeds a limit and was dropped: {why}")


@EVERYWHERE
@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(values=400), "has more than 400 JSON values (in Python, Options(limits=Limits(values=…)) allows more)"),
        (Limits(items=9), "has more than 9 items (in Python, Options(limits=Limits(items=…)) allows more)"),
        (Limits(bytes=3 << 10), "is longer than 3,072 bytes (in Python, Options(limits=Limits(bytes=…)) allows more)"),
    ],
    ids=["values", "items", "bytes"],
)
async def test_all_pages_of_a_list_count_together(
    transport: str, limits: Limits, told: str, marked: Marked, tmp_path: Path
) -> None:
    tools = [{"name": f"tool {number}", "inputSchema": {"type": "object"}} for number in range(4)]
    page = b'{"jsonrpc": "2.0", "id": $ID, "result": {"tools": %b, "nextCursor": "c$ID"}}' % json.dumps(tools).encode()
    with server(transport, [page], marked=marked, folder=tmp_path, at="tools/list") as entry, anyio.fail_after(10):
        async with mcp_launch.launch([entry], cwd=tmp_path, options=Options(limits=limits)) as fleet:
            count, warnings = len(fleet["server"].tools), fleet["server"].warnings

    assert 4 < count < 60
    assert f"its list of tools {told} and was cut" in warnings


TEXT = 'a text that is large, with \u00e9 and \U0001f600 and " and \\ ' * 4000


@EVERYWHERE
async def test_a_large_response_arrives_whole(transport: str, marked: Marked, tmp_path: Path) -> None:
    structured: dict[str, Any] = {"text": TEXT, "numbers": [*range(30_000)], "more": {"nested": [None, True, 1.5, {}]}}
    line = response(content=[{"type": "text", "text": TEXT}], structuredContent=structured)
    with server(transport, [line], marked=marked, folder=tmp_path) as entry, anyio.fail_after(20):
        async with mcp_launch.open_session(entry, cwd=tmp_path) as session:
            for _ in range(2):
                result = await session.call_tool("any", {})
                assert result.structured_content == structured
                assert [getattr(block, "text", None) for block in result.content] == [TEXT]


@EVERYWHERE
async def test_a_large_error_arrives_whole(transport: str, marked: Marked, tmp_path: Path) -> None:
    error = {"code": -32050, "message": "no", "data": {"text": TEXT}}
    line = b'{"jsonrpc": "2.0", "id": $ID, "error": %b}' % json.dumps(error).encode()
    with server(transport, [line], marked=marked, folder=tmp_path) as entry, anyio.fail_after(20):
        async with mcp_launch.open_session(entry, cwd=tmp_path) as session:
            with pytest.raises(MCPError) as raised:
                await session.call_tool("any", {})

    assert raised.value.error.model_dump() == error


@WITH_NOTIFICATIONS
async def test_large_notifications_arrive_whole_and_in_order(transport: str, marked: Marked, tmp_path: Path) -> None:
    heard: list[Any] = []

    async def listen(params: LoggingMessageNotificationParams) -> None:
        heard.append(params.data)

    told: list[Any] = ["small", {"text": TEXT, "number": 1}, "small again", {"text": TEXT, "number": 2}]
    lines = [
        json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": each}})
        for each in told
    ]
    lines = [line.encode() for line in lines]
    with server(transport, [*lines, DONE], marked=marked, folder=tmp_path) as entry, anyio.fail_after(20):
        async with mcp_launch.open_session(entry, cwd=tmp_path, options=Options(logging=listen)) as session:
            await session.call_tool("any", {})
            assert heard == told


@EVERYWHERE
@pytest.mark.parametrize("large", [False, True])
async def test_invalid_unicode_is_replaced(transport: str, *, large: bool, marked: Marked, tmp_path: Path) -> None:
    text = b"x" * (100_000 if large else 10)
    line = DONE.replace(b"done", rb"half a smile: \ud83d, " + text + b"caf\xe9")
    with server(transport, [line], marked=marked, folder=tmp_path) as entry, anyio.fail_after(20):
        async with mcp_launch.open_session(entry, cwd=tmp_path) as session:
            [block] = (await session.call_tool("any", {})).content

    assert getattr(block, "text", None) == f"half a smile: \ufffd, {text.decode()}caf\ufffd"


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_a_local_server_refuses_messages_beyond_its_limits(
    transport: Any, marked: Marked, tmp_path: Path
) -> None:
    local_server = MCPServer("local")

    @local_server.tool()
    def size(numbers: list[int] | str) -> int:
        """The length."""
        return len(numbers)

    async with (
        mcp_launch.serve_local(local_server, transport=transport) as local,
        mcp_launch.open_session(local.spec(v1.McpServer), cwd=tmp_path, budgets=Budgets(call=30)) as session,
    ):
        with pytest.raises(MCPError) as raised:
            await session.call_tool("size", {"numbers": [0] * 600_000})
        error = json.dumps(raised.value.error.model_dump())
        assert "it has more than 500,000 JSON values" in error
        assert "allows more" not in error
        result = await session.call_tool("size", {"numbers": [0] * 50_000})
        assert result.structured_content == {"result": 50_000}
        with pytest.raises(MCPError, match=r"Request body too large|exited|closed"):
            await session.call_tool("size", {"numbers": "0" * (17 << 20)})


def test_limits_are_positive_integers() -> None:
    for wrong in (0, -1, True, 1.5, "64 MB", None):
        given: Any = wrong
        with pytest.raises(UnusableInput, match=r"Limits\.bytes must be a positive integer"):
            Limits(bytes=given)


@pytest.mark.parametrize("broken", [b"\xff", b"\xf0\x9f", rb"\ud800", rb"\udc00"])
async def test_invalid_unicode_is_replaced_unless_the_message_is_very_long(broken: bytes) -> None:
    form = b'{"jsonrpc": "2.0", "id": 1, "result": {"text": "%b%b"}}'
    found = await Reader(Limits()).read(form % ("\U0001f600".encode(), broken))
    assert isinstance(found, JSONRPCResponse)
    assert found.result == {"text": "\U0001f600\ufffd"}

    found = await Reader(Limits()).read(form % (b"." * (8 << 20), broken))
    assert isinstance(found, Invalid)
    assert found.why == "it is not valid Unicode, which is repaired in messages of up to 8 MB only"
    assert (found.limit, found.answers) == ("bytes", 1)

    found = await Reader(Limits()).read(b'"%b' % (b"." * (8 << 20)))
    assert isinstance(found, Invalid)
    assert found.why == "it is not JSON"


@pytest.mark.parametrize(
    "number", ["NaN", "-Infinity", "1e999", "1" * 400, "1" * 5000, "01", "1.", "-0", "1E5", "0.1e-400"]
)
async def test_numbers_are_read_as_by_pydantic(number: str) -> None:
    text = b'{"jsonrpc": "2.0", "id": 1, "result": {"n": %b, "n": %b}}\r\n' % (b"1", number.encode())
    found = await Reader(Limits()).read(text)
    try:
        wanted: Any = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError:
        assert isinstance(found, Invalid)
        assert found.answers == 1
    else:
        assert repr(found) == repr(wanted)


STRINGS = ["", "a", ",", "{[:,", '"', "\\", '\\"', '",', '\\\\",{', "\u00e9\U0001f600", "]}"]


def _random_value(seed: random.Random, depth: int = 0) -> Any:
    kind = seed.choice("ssnlo" if depth < 5 else "sn")
    match kind:
        case "s":
            return "".join(seed.choices(STRINGS, k=seed.randint(0, 6)))
        case "n":
            return seed.choice([1, 1.5, None, True])
        case "l":
            return [_random_value(seed, depth + 1) for _ in range(seed.randint(0, 5))]
        case _:
            return {f"{seed.choice(STRINGS)}{key}": _random_value(seed, depth + 1) for key in range(seed.randint(0, 5))}


def _count(value: Any) -> int:
    """Count values and keys; empty containers count twice."""
    match value:
        case dict():
            entries = cast("dict[str, Any]", value)
            return 1 + (len(entries) or 1) + sum(map(_count, entries.values()))
        case list():
            items = cast("list[Any]", value)
            return 1 + (0 if items else 1) + sum(map(_count, items))
        case _:
            return 1


async def test_values_are_counted_outside_of_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = random.Random(3)
    for _ in range(300):
        # Whatever is cut at the end of a piece.
        monkeypatch.setattr("mcp_launch._transports.messages._PIECE", seed.randint(1, 40))
        value = {"jsonrpc": "2.0", "method": "a", "params": {"v": _random_value(seed)}}
        text = json.dumps(value, ensure_ascii=seed.random() < 0.5).encode()
        count = _count(value)
        within = await Reader(Limits(values=count, bytes=len(text))).read(text)
        beyond = await Reader(Limits(values=count - 1)).read(text)
        assert not isinstance(within, Invalid), text
        assert isinstance(beyond, Invalid), text
        assert (beyond.limit, beyond.is_call) == ("values", True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
async def test_a_signal_is_handled_between_the_steps_of_a_long_message(monkeypatch: pytest.MonkeyPatch) -> None:
    text = response(structuredContent={"a": "x" * (2 << 20)}).replace(b"$ID", b"1")
    handled = 0

    async def count_signals(*, task_status: TaskStatus[None]) -> None:
        nonlocal handled
        with anyio.open_signal_receiver(signal.SIGWINCH) as signals:
            task_status.started()
            async for _ in signals:
                handled += 1

    def step(then: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **options: Any) -> Any:
            before.append(handled)
            # By default it has no effect, so the last one may remain unhandled.
            os.kill(os.getpid(), signal.SIGWINCH)
            return then(*args, **options)

        return stepped

    before = list[int]()
    for name in ("_punctuation", "from_json", "_message"):
        monkeypatch.setattr(messages, name, step(getattr(messages, name)))
    async with anyio.create_task_group() as tasks:
        await tasks.start(count_signals)
        assert isinstance(await Reader(Limits()).read(text), JSONRPCResponse)
        tasks.cancel_scope.cancel()

    assert before == [0, 1, 2]


async def test_a_long_message_is_not_lost_by_cancelling_the_reader() -> None:
    found: object = None
    with anyio.CancelScope() as scope:
        scope.cancel()
        found = await Reader(Limits()).read(response(content=["x" * (2 << 20)]).replace(b"$ID", b"1"))

    assert isinstance(found, JSONRPCResponse)


async def test_arrays_of_any_json_have_no_limit_of_items() -> None:
    many: list[Any] = [[{}]] * 50
    fields = ["inputSchema", "outputSchema", "structuredContent", "_meta", "data", "metadata", "input"]
    fields += ["experimental", "extensions"]
    for field in fields:
        text = response(**{field: many}).replace(b"$ID", b"1")
        assert isinstance(await Reader(Limits(items=10)).read(text), JSONRPCResponse)
    beyond = await Reader(Limits(items=10)).read(response(content=many).replace(b"$ID", b"1"))
    assert isinstance(beyond, Invalid)
    assert (beyond.limit, beyond.answers) == ("items", 1)
    assert beyond.diagnosis().advice == "in Python, Options(limits=Limits(items=…)) allows more"


@pytest.mark.parametrize(
    ("most", "content"), [(10, [0] * 10), (65, {str(number): 0 for number in range(65)})], ids=["array", "object"]
)
async def test_as_many_items_as_the_limit_are_read(most: int, content: object) -> None:
    text = response(content=content).replace(b"$ID", b"1")
    within, beyond = [await Reader(Limits(items=limit)).read(text) for limit in (most, most - 1)]

    assert isinstance(within, JSONRPCResponse)
    assert isinstance(beyond, Invalid)
    assert beyond.limit == "items"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":%b}', 5),
        (b' { "id" : "a\\"b" , "jsonrpc" : "2.0", "result": %b}', 'a"b'),
        (b'{"result":%b,"jsonrpc":"2.0","id":5}\r\n', 5),
        (b'{"id":5,"result":%b,"jsonrpc":"2.0"}', 5),
        (b'{"jsonrpc":"2.0","result":%b,"id":-3 }', -3),
        (b'{"jsonrpc":"2.0","id":null,"error":%b}', None),
        (b'{"jsonrpc":"2.0","id":5,"method":"a","params":%b}', None),
        (b'{"params":%b,"method":"a","jsonrpc":"2.0","id":5}', None),
        (b'{"log":%b}', None),
        (b'{"log":%b,"note":"\\"id\\":5}"}', None),
    ],
)
async def test_the_request_of_a_response_is_found_without_parsing_it(text: bytes, number: object) -> None:
    deep = b"[" * (DEEPEST + 1) + b'"' + b"x" * 10_000 + b'"' + b"]" * (DEEPEST + 1)
    found = await Reader(Limits()).read(text % deep)

    assert isinstance(found, Invalid)
    assert (found.limit, found.answers) == ("depth", number)
    assert found.claims
    assert found.diagnosis().advice is None


@pytest.mark.parametrize(
    ("text", "number", "claims"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "result": 5}', 1, True),
        (b'{"id": 1, "result": {}}', 1, False),
        (b'{"id": 1, "level": "info"}', None, False),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', None, True),
        (b'{"jsonrpc": "2.0", "id": true, "result": {}}', None, True),
        (b'[{"jsonrpc": "2.0", "id": 1, "result": 5}]', None, False),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {"a', None, True),
        (b'{"jsonrpc": "2.0", "id": 05, "result": {}}', None, False),
    ],
    ids=["response", "without jsonrpc", "log", "request", "boolean", "array", "cut", "number"],
)
async def test_an_invalid_message_responds_to_a_request_if_it_claims_to_be_a_response(
    text: bytes, number: object, *, claims: bool
) -> None:
    found = await Reader(Limits()).read_all(text)

    assert isinstance(found, Invalid)
    assert (found.answers, found.claims) == (number, claims)


async def test_an_event_without_an_end_fails_its_request(tmp_path: Path) -> None:
    def answer(request: Request) -> Iterator[bytes]:
        if request.asks != "tools/call":
            yield from Web("works").http(request)
            return
        yield head(content_type="text/event-stream") + b"data: "
        while not request.released.wait(0.01):
            yield b"x" * 1000

    options = Options(limits=Limits(bytes=10_000))
    with raw_server(answer) as raw, anyio.fail_after(20):
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path, options=options) as session:
            with pytest.raises(MCPError, match="longer than 10,000 bytes"):
                await session.call_tool("echo", {})


async def test_other_tasks_run_while_a_long_message_is_read() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(count)
        await anyio.lowlevel.checkpoint()
        before = turns
        await Reader(Limits()).read(b'["%b"]' % (b"," * (4 << 20)))
        assert turns - before >= 4
        tasks.cancel_scope.cancel()


def test_an_event_with_too_many_lines_is_refused() -> None:
    with pytest.raises(EventTooLong, match="it has more than 500,000 lines"):
        list(EventBuffer(10_000_000).feed(b"data\n" * 500_001 + b"\n"))


@pytest.mark.parametrize("chunk", [b"data: " + b"x" * 200 + b"\n\n", b"data: " + b"x" * 200, b": ping\n" * 30])
def test_an_event_that_is_too_long_is_refused(chunk: bytes) -> None:
    buffer = EventBuffer(100)
    assert [*buffer.feed(b"data: 1\n\n")] == [b"data: 1\n\n"]
    with pytest.raises(EventTooLong, match="it is longer than"):
        list(buffer.feed(chunk))

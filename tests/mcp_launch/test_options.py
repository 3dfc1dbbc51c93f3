"""Options reach their server: callbacks, per server, on each transport and era."""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Generator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client import ClientRequestContext
from mcp.server import Server
from mcp_types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    ListToolsResult,
    LoggingMessageNotificationParams,
    Root,
    SamplingCapability,
    SamplingToolsCapability,
    TextContent,
    Tool,
    ToolListChangedNotification,
)
from pydantic import FileUrl

import mcp_launch
from mcp_launch import Budgets, Options, Restart, UnusableInput
from mcp_launch._servers.client import client_of
from mcp_launch.options import Mode, OptionsFor
from tests.mcp_launch.servers.asks import asking_server
from tests.mcp_launch.support import SECRET, SERVERS, Marked, ask, http

pytestmark = [
    pytest.mark.anyio,
    # On trio: the SDK closes a response, and leaves the generators that it read it with to the garbage collector.
    pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The logging capability is deprecated:mcp.MCPDeprecationWarning"),
]

ASKS = str(SERVERS / "asks.py")
ERAS = {"modern": "2026-07-28", "legacy": "2025-11-25"}
WAYS = [("stdio", "modern"), ("stdio", "legacy"), ("http", "modern"), ("http", "legacy"), ("sse", "legacy")]


class Asking:
    """The server that sends requests, over one transport in one era, and the responses it receives."""

    def __init__(self, way: tuple[str, str], marked: Marked, url: str) -> None:
        self.way = way
        self.marked = marked
        self.url = url
        self.logged: list[Any] = []
        self.changed = anyio.Event()
        self.log_arrived = anyio.Event()

    @property
    def is_modern(self) -> bool:
        return self.way[1] == "modern"

    def spec(self, name: str) -> dict[str, Any]:
        if self.way[0] == "stdio":
            return self.marked.stdio(name, sys.executable, ASKS, *self.way)
        return http(self.url, name=name, kind=self.way[0])

    def options(self, **others: Any) -> Options:
        callbacks: dict[str, Any] = {
            "sampling": self.sample,
            "sampling_capabilities": SamplingCapability(tools=SamplingToolsCapability()),
            "elicitation": self.elicit,
            "roots": self.list_roots,
            "logging": self.log,
            "log_level": "warning",
            "message": self.notice,
        }
        return Options(**callbacks | others)

    async def sample(self, context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        (asked,) = params.messages
        assert (asked.content, params.max_tokens) == (TextContent(text="2 + 2?"), 5)
        return CreateMessageResult(role="assistant", content=TextContent(text="4"), model="abacus")

    async def elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        assert params.message == "Which colour?"
        return ElicitResult(action="accept", content={"name": "red"})

    async def list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl("file:///project"))])

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        self.logged.append((params.level, params.data, params.logger))
        if params.level == "warning":
            self.log_arrived.set()

    async def notice(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed.set()


@pytest.fixture(autouse=True)
def no_garbage_left() -> Generator[None]:
    """Collect garbage while warnings about it are ignored."""
    yield
    gc.collect()


@pytest.fixture(params=WAYS, ids="-".join)
def asking(request: pytest.FixtureRequest, marked: Marked) -> Generator[Asking]:
    kind, era = request.param
    with asking_server(era, kind) if kind != "stdio" else nullcontext("") as url:
        yield Asking(request.param, marked, url)


async def test_the_server_reaches_every_callback(asking: Asking, tmp_path: Path) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def take(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    with anyio.fail_after(20):
        async with mcp_launch.launch([asking.spec("asks")], cwd=tmp_path, options=asking.options()) as fleet:
            session = fleet["asks"].session
            assert session.protocol_version == ERAS[asking.way[1]]
            assert await ask(session, "client") == {
                "sampling": {"tools": {}},
                "elicitation": {"form": {}, "url": {}},
                "roots": {"listChanged": True},
            }

            assert await ask(session, "complete") == "abacus says 4"
            assert await ask(session, "choose") == "the user wants red"
            assert await ask(session, "where") == "at file:///project"

            await session.call_tool("work", progress_callback=take)
            assert steps == [(1, 2, "half of it"), (2, 2, None)]

            await ask(session, "log")
            await asking.log_arrived.wait()
            # The older era has no level per request. A client can only set it for the session.
            debug = [] if asking.is_modern else [("debug", "a detail", None)]
            assert asking.logged == [*debug, ("warning", {"disk": "full"}, "asks.disk")]

            if asking.is_modern:
                async with session.listen(tools_list_changed=True):
                    await ask(session, "change")
                    await asking.changed.wait()
            else:
                await ask(session, "change")
                await asking.changed.wait()


async def test_without_a_level_every_log_message_arrives(asking: Asking, tmp_path: Path) -> None:
    options = Options(logging=asking.log)
    with anyio.fail_after(20):
        async with mcp_launch.open_session(asking.spec("asks"), cwd=tmp_path, options=options) as session:
            await ask(session, "log")
            await asking.log_arrived.wait()
            assert [level for level, *_ in asking.logged] == ["debug", "warning"]


async def test_a_list_is_requested_again_although_the_server_lets_it_be_cached() -> None:
    tools: list[Tool] = []

    async def list_tools(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools, ttl_ms=60_000)

    with anyio.fail_after(20):
        async with client_of(Server("grows", on_list_tools=list_tools), Options(), patience=10) as session:
            assert (await session.list_tools()).tools == []
            tools.append(Tool(name="extra", input_schema={"type": "object"}))
            assert (await session.list_tools()).tools == tools


async def test_capabilities_without_a_callback_are_not_advertised(asking: Asking, tmp_path: Path) -> None:
    with anyio.fail_after(20):
        async with mcp_launch.open_session(asking.spec("asks"), cwd=tmp_path) as session:
            assert await ask(session, "client") == {}
            for tool in ("complete", "choose", "where"):
                assert "did not declare" in await refusal(session, tool)
            assert await ask(session, "log") == "logged"
            assert await ask(session, "change") == "changed"
            assert await ask(session, "work") == "worked"


async def test_a_server_of_both_eras_asks_during_a_call_only_in_legacy_mode(marked: Marked, tmp_path: Path) -> None:
    async def confirm(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "Ada", "ink": "red", "sure": True})

    asks = marked.stdio("asks", sys.executable, ASKS, "stdio", "modern")
    eras: dict[Mode, str] = {"auto": "modern", "legacy": "legacy"}
    for mode, era in eras.items():
        options = Options(mode=mode, elicitation=confirm)
        async with mcp_launch.open_session(asks, cwd=tmp_path, options=options) as session:
            assert session.protocol_version == ERAS[era]
            if mode == "auto":
                assert "no back-channel" in await refusal(session, "fill")
            else:
                assert (await ask(session, "fill"))["name"] == "Ada"


async def test_a_failing_callback_affects_only_one_call(asking: Asking, tmp_path: Path) -> None:
    async def refuse(context: ClientRequestContext, params: CreateMessageRequestParams) -> ErrorData:
        return ErrorData(code=-1, message="not today")

    async def fail(*anything: Any) -> Any:
        raise RuntimeError("mine")

    options = asking.options(sampling=refuse, elicitation=fail, logging=fail, message=fail)
    with anyio.fail_after(20):
        async with mcp_launch.launch([asking.spec("asks")], cwd=tmp_path, options=options) as fleet:
            session = fleet["asks"].session
            assert "not today" in await refusal(session, "complete")
            # In the newer era it is the call that asks, so that the call raises what its callback raised.
            if asking.is_modern:
                with pytest.raises(ExceptionGroup) as caught:
                    await session.call_tool("choose")
                assert caught.group_contains(RuntimeError, match="mine", depth=1)
            else:
                assert await refusal(session, "choose")
            assert await ask(session, "log") == "logged"
            assert await ask(session, "where") == "at file:///project"
            assert fleet["asks"].state == "ready"


@pytest.mark.parametrize("given", ["by name", "by function", "for all"])
async def test_options_are_for_one_server_or_for_all(given: str, marked: Marked, tmp_path: Path) -> None:
    with asking_server("modern") as url, anyio.fail_after(20):
        asking = Asking(("http", "modern"), marked, url)
        servers, options = [asking.spec("first"), asking.spec("second")], asking.options()
        forms: dict[str, OptionsFor] = {
            "by name": {"first": options},
            "by function": lambda name: options if name == "first" else Options(),
            "for all": options,
        }
        async with mcp_launch.launch(servers, cwd=tmp_path, options=forms[given]) as fleet:
            assert await ask(fleet["first"].session, "choose") == "the user wants red"
            if given == "for all":
                assert await ask(fleet["second"].session, "choose") == "the user wants red"
            else:
                assert "did not declare" in await refusal(fleet["second"].session, "choose")


@pytest.mark.parametrize("options", [5, {"plain": {"sampling": None}}, str])
async def test_wrong_options_are_refused_before_anything_is_launched(
    options: Any, marked: Marked, tmp_path: Path
) -> None:
    with pytest.raises(UnusableInput, match=r"the options of plain must be mcp_launch\.Options, not"):
        async with mcp_launch.launch([marked.plain()], cwd=tmp_path, options=options):
            raise AssertionError("nothing can be launched")


async def print_line(server: str, line: str) -> None:
    """Has a signature with which `stderr` cannot be called."""


class Printer:
    async def __call__(self, server: str, line: str) -> None:
        """Has the same signature, in a callable object."""


@pytest.mark.parametrize("stderr", [print_line, partial(print_line, "server"), Printer()])
async def test_an_async_callback_is_refused_where_it_would_not_be_awaited(stderr: Any) -> None:
    with pytest.raises(UnusableInput, match=r"stderr must be a plain function, not an async one: it is called in a"):
        Options(stderr=stderr)


CALLBACKS = ("stderr", "sampling", "elicitation", "roots", "logging", "message", "traffic")


@pytest.mark.parametrize(
    ("kind", "name", "wrong", "wanted"),
    [
        *((Options, name, "print", "a function, not a str$") for name in CALLBACKS),
        (Options, "mode", "2025-11-25", """"auto" or "legacy", not '2025-11-25'$"""),
        (Options, "restart", 5, r"an mcp_launch\.Restart, not a int$"),
        (Options, "limits", {"bytes": 1}, r"mcp_launch\.Limits, not a dict$"),
        (Options, "phrases", {"longer": "more time"}, r"those of an mcp_launch\.config\.Config, not a dict$"),
        *((Options, "secrets", wrong, "a collection of strings$") for wrong in ("sk-secret", [3], 3)),
        (Restart, "tries", "5", "a non-negative number, not"),
        (Restart, "first", -0.5, "a non-negative number, not"),
        (Restart, "longest", math.nan, "a non-negative number, not"),
        (Budgets, "connect", None, "a non-negative number, not"),
        (Budgets, "call", -1, "a non-negative number, not"),
    ],
)
async def test_an_option_of_a_wrong_type_is_refused(kind: Any, name: str, wrong: Any, wanted: str) -> None:
    with pytest.raises(UnusableInput, match=f"^{name} must be {wanted}"):
        kind(**{name: wrong})


@pytest.mark.parametrize("timeout", [None, "5", -1, math.nan])
async def test_a_timeout_without_sense_is_refused_before_anything_starts(
    timeout: Any, marked: Marked, tmp_path: Path
) -> None:
    said = rf"^timeout must be a non-negative number, not {timeout!r}$"

    with pytest.raises(UnusableInput, match=said):
        async with mcp_launch.launch([], cwd=tmp_path, timeout=timeout):
            raise AssertionError("nothing can be launched")
    with pytest.raises(UnusableInput, match=said):
        async with mcp_launch.open_session(marked.plain(), cwd=tmp_path, timeout=timeout):
            raise AssertionError("nothing can be launched")
    async with mcp_launch.launch([], cwd=tmp_path) as fleet:
        with pytest.raises(UnusableInput, match=said):
            fleet.add(marked.plain(), timeout=timeout)
        assert list(fleet) == []

    assert marked.running() == []


async def test_open_session_refuses_restart(marked: Marked, tmp_path: Path) -> None:
    options = Options(restart=Restart())

    with pytest.raises(UnusableInput, match=r"open_session does not restart servers; use launch\(\)"):
        async with mcp_launch.open_session(marked.plain(), cwd=tmp_path, options=options):
            raise AssertionError("nothing can be launched")

    assert marked.running() == []


async def refusal(session: Client, tool: str) -> str:
    """Call a tool that fails, and return its error message."""
    try:
        result: CallToolResult = await session.call_tool(tool)
    except MCPError as error:
        return str(error)
    assert result.is_error, result
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def test_secrets_of_the_options_are_redacted(marked: Marked, tmp_path: Path) -> None:
    server = marked.stdio("bad", "/bin/sh", "-c", 'echo "$0 and $1" >&2; exit 3', SECRET[::-1], "other")

    async with mcp_launch.launch([server], cwd=tmp_path, options=Options(secrets=[SECRET[::-1]])) as fleet:
        failure = fleet["bad"].failure

    assert failure is not None
    assert failure.message.endswith("[redacted] and other")
    assert SECRET[::-1] not in repr(Options(secrets=[SECRET[::-1]]))

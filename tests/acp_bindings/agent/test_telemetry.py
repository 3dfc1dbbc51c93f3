"""Spans of turns, requests and tool calls, and the trace context in `_meta`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext

from acp_bindings.agent import Agent, Turn
from acp_bindings.agent import _telemetry as telemetry
from acp_bindings.connection import Connection, RequestFailed
from tests.acp_bindings.agent.clients import talking

pytestmark = pytest.mark.anyio

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
META = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1", "example.com": 1}


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Generator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("acp-bindings"))
    yield exporter
    provider.shutdown()


def agent_with_tools() -> Agent:
    agent = Agent("traced", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Secret title", name="search") as call:
            await turn.ask("Really?", call=call)
        if turn.text == "fail":
            raise RuntimeError("hunter2")

    return agent


def context_of(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context
    return context


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


async def test_a_turn_its_tool_calls_and_its_requests_share_one_trace(
    exporter: InMemorySpanExporter, version: int
) -> None:
    async with talking(agent_with_tools(), version) as client:
        session = await client.new()
        exporter.clear()
        await client.prompt(session, "go", _meta=META)
        spans = by_name(exporter)
        (asked,) = client.asked
    turn, tool, ask = (spans[name] for name in ("session/prompt", "execute_tool search", "session/request_permission"))
    assert turn.parent
    assert (f"{context_of(turn).trace_id:032x}", f"{turn.parent.span_id:016x}") == (TRACE, PARENT)
    assert tool.parent
    assert ask.parent
    assert (tool.parent.span_id, ask.parent.span_id) == (context_of(turn).span_id, context_of(tool).span_id)
    assert turn.attributes
    assert turn.attributes["acp.stop_reason"] == "end_turn"
    assert turn.attributes["acp.session.id"] == session
    # The client gets the context, with the state of the vendor.
    assert asked.meta == {
        "traceparent": f"00-{TRACE}-{context_of(ask).span_id:016x}-01",
        "tracestate": "vendor=1",
    }


async def test_other_requests_of_the_client_are_spans_too(exporter: InMemorySpanExporter, version: int) -> None:
    async with talking(agent_with_tools(), version) as client:
        await client.ask("session/new", cwd="/", mcpServers=[], _meta=META)
        with pytest.raises(RequestFailed):
            await client.load("unknown")
        await client.ask("session/list")
    new, load, list_ = exporter.get_finished_spans()
    assert (new.name, list_.name) == ("session/new", "session/list")
    assert f"{context_of(new).trace_id:032x}" == TRACE
    assert load.attributes
    assert load.attributes["error.type"] == "SessionNotFound"
    assert not load.status.is_ok
    assert list_.parent is None


@pytest.mark.parametrize("meta", [{"traceparent": "nonsense"}, {"traceparent": 5}, {"tracestate": "a=1"}, {}])
async def test_an_invalid_trace_context_is_ignored(exporter: InMemorySpanExporter, meta: dict[str, Any]) -> None:
    async with talking(agent_with_tools()) as client:
        await client.prompt(await client.new(), "go", _meta=meta)
    assert by_name(exporter)["session/prompt"].parent is None


async def test_spans_have_neither_content_nor_messages(exporter: InMemorySpanExporter) -> None:
    async with talking(agent_with_tools()) as client:
        with pytest.raises(RequestFailed):
            await client.prompt(await client.new(), "fail")
    told = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert "RuntimeError" in told
    assert "hunter2" not in told
    assert "Secret title" not in told
    assert "Really" not in told


async def test_without_opentelemetry_nothing_is_traced(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    monkeypatch.setattr(telemetry, "_tracer", None)
    async with talking(agent_with_tools(), version) as client:
        assert await client.prompt(await client.new(), "go", _meta=META) == "end_turn"
        assert not client.asked[0].meta


def test_agents_can_be_imported_without_opentelemetry() -> None:
    program = """
import sys
sys.modules["opentelemetry"] = None
from acp_bindings.agent import Agent, Turn
from acp_bindings.agent._telemetry import _tracer
assert _tracer is None
"""
    subprocess.run([sys.executable, "-c", program], check=True)


async def test_notifications_do_not_send_the_trace_of_a_request(exporter: InMemorySpanExporter) -> None:
    agent = Agent("quiet", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say("hello")

    @agent.on("_acme/now")
    async def now(params: Any, connection: Connection) -> int:
        return 1

    async with talking(agent) as client:
        session = await client.new()
        exporter.clear()
        await client.cancel(session)
        assert await client.prompt(session, "go") == "end_turn"
    assert [span.name for span in exporter.get_finished_spans()] == ["session/prompt"]

"""A real MCP server, built with the SDK, that turns to its client: asks, logs, tells of progress and of changes.

`asks.py TRANSPORT ERA`: the transport as in `echo.py`; `legacy` does without the 2026-07-28 era of MCP.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, Elicit, ListRoots, MCPServer, Resolve, Sample
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp.shared.message import SessionMessage
from mcp_types import (
    METHOD_NOT_FOUND,
    CreateMessageResult,
    ElicitRequestURLParams,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field

from mcp_launch._transports.streams import ReadStream, Sink, Source

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.mcp_launch.servers.echo import serve, serving

asks = MCPServer("asks", version="1", log_level="ERROR")


def ask_model() -> Sample:
    """The request to the client's model."""
    return Sample([SamplingMessage(role="user", content=TextContent(text="2 + 2?"))], max_tokens=5)


@asks.tool()
def complete(answer: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    """Return the response of the client's model."""
    assert isinstance(answer.content, TextContent)
    return f"{answer.model} says {answer.content.text}"


class Colour(BaseModel):
    """The user's response."""

    name: str


def ask_user() -> Elicit[Colour]:
    """The question for the user."""
    return Elicit("Which colour?", Colour)


@asks.tool()
def choose(colour: Annotated[Colour, Resolve(ask_user)]) -> str:
    """Return the user's choice."""
    return f"the user wants {colour.name}"


class Form(BaseModel):
    """A form with members of all kinds."""

    name: str = Field(description="Your name", min_length=2)
    size: Annotated[int, Field(ge=1, le=9)] = 3
    ink: Literal["red", "blue"]
    sure: bool
    note: str | None = None


@asks.tool()
async def fill(ctx: Context) -> str:
    """Ask for a form, and return the answer; only in the older era."""
    answer = await ctx.elicit("Please fill this in", Form)
    return answer.data.model_dump_json() if answer.action == "accept" else answer.action


URL = "https://login.example/start?state=1"


@asks.tool()
async def visit(ctx: Context) -> str:
    """Ask the user to open a URL; only in the older era."""
    return (await ctx.elicit_url("Please log in", URL, "one")).action


calls: list[str] = []


@asks.tool()
def locked() -> str:
    """Require a URL to be opened before the first call."""
    calls.append("locked")
    if len(calls) == 1:
        raise UrlElicitationRequiredError(
            [ElicitRequestURLParams(message="Please log in", url=URL, elicitation_id="two")]
        )
    return f"call {len(calls)}"


def ask_roots() -> ListRoots:
    """The request for the roots."""
    return ListRoots()


@asks.tool()
def where(roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> str:
    """Return the client's roots."""
    return f"at {', '.join(str(root.uri) for root in roots.roots)}"


@asks.tool()
def client(ctx: Context) -> str:
    """Return the client's capabilities as JSON."""
    capabilities = ctx.client_capabilities
    return capabilities.model_dump_json(by_alias=True, exclude_none=True) if capabilities else "null"


@asks.tool()
async def log(ctx: Context) -> str:
    """Log a warning and a debug message."""
    await ctx.log("debug", "a detail")  # pyright: ignore[reportDeprecated]
    await ctx.log("warning", {"disk": "full"}, logger_name="asks.disk")  # pyright: ignore[reportDeprecated]
    return "logged"


@asks.tool()
async def work(ctx: Context) -> str:
    """Work, and report progress."""
    await ctx.report_progress(1, 2, "half of it")
    await ctx.report_progress(2, 2)
    return "worked"


@asks.tool()
async def change(ctx: Context) -> str:
    """Notify the client that the tools changed, as in both eras."""
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "changed"


async def refuse_discovery(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Refuse discovery over HTTP, like a server of the older era."""
    if ctx.method == "server/discover":
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
    return await call_next(ctx)


class WithoutDiscovery(ReadStream):
    """Refuses discovery over stdio, where the SDK would otherwise select the newer era before it calls middleware."""

    def __init__(self, inner: Source, write: Sink) -> None:
        super().__init__(inner)
        self._write = write

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await super().receive()
            if isinstance(item, Exception) or getattr(item.message, "method", "") != "server/discover":
                return item
            assert isinstance(item.message, JSONRPCRequest)
            error = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
            await self._write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error)))


async def serve_older_stdio() -> None:
    """Serve standard input and output in the older era."""
    server = asks._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    async with stdio_server() as (read, write):
        await server.run(WithoutDiscovery(read, write), write, server.create_initialization_options())


@contextmanager
def asking_server(era: str, kind: str = "http") -> Generator[str]:
    """Serve HTTP in this process, and yield the URL."""
    asks.middleware[:] = [refuse_discovery] if era == "legacy" else []
    calls.clear()
    with serving(kind, asks) as url:
        yield url


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio", "legacy"]:
            anyio.run(serve_older_stdio)
        case ["stdio", _]:
            asks.run("stdio")
        case [transport, era]:
            asks.middleware.extend([refuse_discovery] if era == "legacy" else [])
            serve(transport, asks)
        case _:
            sys.exit(__doc__)

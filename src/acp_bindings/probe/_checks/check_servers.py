"""MCP servers of the probe: started, initialized and listed, with their arguments, environment and headers."""

from __future__ import annotations

from acp_bindings.probe._bench import HELLO, TOOL, Bench, first_session
from acp_bindings.probe._check import Failed, Outcome, Skipped, Warned, check
from acp_bindings.probe._mcp_servers import ARGUMENTS, HEADER, VARIABLE, WORD
from acp_bindings.probe._probed_agent import Message
from acp_bindings.probe._probed_session import Session

_SOURCE = "protocol, Session Setup: MCP Servers"


@check(_SOURCE, "Start the servers of `mcpServers` and initialize them when the session is created.")
async def stdio(bench: Bench) -> None:
    """A stdio server is started and initialized."""
    await bench.once(with_stdio)


@check(
    _SOURCE,
    "Pass `args` on as they are, without a shell. `env` is a list of `{name, value}`, not a map: set each variable.",
)
async def stdio_environment(bench: Bench) -> None:
    """A stdio server gets its arguments and environment variables."""
    session, entry = await bench.once(with_stdio)
    started = bench.servers.of(entry, "started")[0]
    if started["args"] != ARGUMENTS:
        raise Failed(f"its arguments were {started['args']}", session.call.lines)
    if started["word"] != WORD:
        raise Failed(f"the variable {VARIABLE} was {started['word']!r}", session.call.lines)


@check(_SOURCE, "Request `tools/list` after `initialize`.")
async def listed(bench: Bench) -> None:
    """The tools of a server are listed."""
    session, entry = await bench.once(with_stdio)
    if not await _after_prompt(bench, session, entry, "listed"):
        raise Warned("`tools/list` was not requested, not even during a prompt", session.call.lines)


@check(_SOURCE, "Offer the tools of the servers to the model.")
async def called(bench: Bench) -> None:
    """A tool of a server can be called."""
    session, entry = await bench.once(with_stdio)
    if not bench.servers.of(entry, "called"):
        await session.turn(bench.text(TOOL))
    if not bench.servers.of(entry, "called"):
        tool = f"the tool probe_word of the MCP server {entry['name']}"
        raise Skipped(f"the prompt did not lead to a call of {tool}; ask for it with --prompt")


@check(_SOURCE, "Connect to the server, or do not advertise the transport.")
async def http(bench: Bench) -> None:
    """An HTTP server is initialized if the transport is advertised."""
    await bench.once(_with_http)


@check(_SOURCE, "Send the headers with every request.")
async def http_headers(bench: Bench) -> None:
    """An HTTP server gets its headers."""
    await _has_headers(bench, *await bench.once(_with_http))


@check(_SOURCE, "Connect to the server, or do not advertise the transport.", versions=(1,))
async def sse(bench: Bench) -> None:
    """An SSE server is initialized if the transport is advertised."""
    await bench.once(_with_sse)


@check(_SOURCE, "Send the headers with every request.", versions=(1,))
async def sse_headers(bench: Bench) -> None:
    """An SSE server gets its headers."""
    await _has_headers(bench, *await bench.once(_with_sse))


@check("schema, OtherMcpServer", "Refuse `session/new` with -32602.", versions=(2,))
async def unadvertised(bench: Bench) -> None:
    """A server whose transport the agent does not support is refused with -32602."""
    agent = (await bench.once(first_session)).agent
    entry: Message = {**bench.servers.stdio(), "type": "_probe"}
    call = await agent.request("session/new", bench.session_params(mcpServers=[entry]), is_wrong=True)
    if call.code != -32602:
        raise Failed(f"the code is {call.code}" if call.error else "it was accepted", call.lines)


@check(_SOURCE, "Report the server that failed, and go on with the others.")
async def broken(bench: Bench) -> None:
    """A server that cannot be started does not affect the others."""
    await bench.once(with_stdio)
    agent = await bench.shared()
    entry = bench.servers.stdio()
    params = bench.session_params(mcpServers=[*bench.servers.broken(), entry])
    call = await agent.request("session/new", params)
    if call.error:
        raise Warned("`session/new` was refused", call.lines)
    session = bench.session(agent, params, call)
    if not await _after_prompt(bench, session, entry, "initialized"):
        raise Failed("the server that works was not initialized", call.lines)


async def with_stdio(bench: Bench) -> tuple[Session, Message]:
    """Return a session with a stdio server of the probe, once the agent has initialized it."""
    if bench.version > 1:
        await bench.need("", "session.mcp.stdio")
    return await _with(bench, bench.servers.stdio(), is_advertised=bench.version > 1)


async def _with_http(bench: Bench) -> tuple[Session, Message]:
    await bench.need("mcpCapabilities.http", "session.mcp.http")
    return await _with(bench, bench.servers.remote("http"), is_advertised=True)


async def _with_sse(bench: Bench) -> tuple[Session, Message]:
    await bench.need("mcpCapabilities.sse", "")
    return await _with(bench, bench.servers.remote("sse"), is_advertised=True)


async def _with(bench: Bench, entry: Message, *, is_advertised: bool) -> tuple[Session, Message]:
    """Open a session with a server, and return both once the server was initialized."""
    session = await bench.new_session(await bench.shared(), mcpServers=[entry])
    if await _after_prompt(bench, session, entry, "initialized"):
        return session, entry
    if bench.servers.of(entry, "started"):
        raise Failed("the server was started or reached, and not initialized", session.call.lines)
    # v1 says that agents should connect to all servers.
    outcome = Failed if is_advertised else Warned
    raise outcome("the server was not started or reached, not even during a prompt", session.call.lines)


async def _after_prompt(bench: Bench, session: Session, entry: Message, event: str) -> bool:
    """Wait for an event of a server. Some agents start servers with the first prompt."""
    servers = bench.servers
    if await servers.wait(lambda: servers.of(entry, event), bench.patience):
        return True
    try:
        await session.turn(bench.text(HELLO))
    except Outcome:
        raise Skipped("no server was started yet, and prompts do not work") from None
    return await servers.wait(lambda: servers.of(entry, event), bench.patience)


async def _has_headers(bench: Bench, session: Session, entry: Message) -> None:
    words = {each["word"] for each in bench.servers.of(entry, "started")}
    if words != {WORD}:
        raise Failed(f"the header {HEADER} was missing in a request", session.call.lines)

"""Code of users of `acp_bindings.agent`: checkers accept all lines except those marked as refused."""

from typing import Any, assert_type

import mcp_launch
from acp_bindings import v1
from acp_bindings.agent import (
    Agent,
    CommandResult,
    FolderSessions,
    MemorySessions,
    Session,
    SessionStore,
    StopReason,
    ToolCall,
    Turn,
)
from acp_bindings.connection import Connection

hello = Agent("hello", version="1.0")


@hello.prompt
async def answer(turn: Turn) -> None:
    await turn.say(f"You said {turn.text}.")
    print(turn.session.mcp)


@hello.prompt
async def stops(turn: Turn) -> StopReason:
    return "refusal"


@hello.command("plan", "Makes a plan")
async def plan(turn: Turn) -> StopReason | None:
    return "max_tokens" if turn.arguments else None


@hello.prompt  # refused
async def misspelt(turn: Turn) -> str:
    return "end_trun"


@hello.prompt  # refused
def blocking(turn: Turn) -> None:
    print(turn)


@hello.on_open
async def opened(session: Session) -> None:
    await session.set_title("Title")
    session.data["messages"] = []


@hello.on_mode
async def mode_changed(session: Session, mode: str) -> None:
    print(session.id, mode)


@hello.on("_acme/do")
async def do(params: Any, connection: Connection) -> Any:
    return params


tools = Agent("tools", version="1.0", mcp=mcp_launch.for_sessions(), sessions=FolderSessions("~/.tools"))


@tools.prompt
async def typed(turn: Turn[mcp_launch.Fleet]) -> None:
    assert_type(turn.session.mcp, mcp_launch.Fleet)
    async with turn.tool_call("Call", kind="read", locations=["/a"]) as call:
        assert_type(call, ToolCall)
        call.result(await turn.session.mcp.call_tool("a__b", {}))
        call.result([v1.Diff(path="/a", new_text="x"), "text"])
    assert_type(call.output, str)
    if await turn.ask("Write?", call=call):
        await turn.write_file("a.txt", await turn.read_file("b.txt"))
    assert_type(await turn.run_command(["make"], timeout=5, call=call), CommandResult)
    assert_type(await turn.elicit("Name?", {"type": "object"}), dict[str, Any] | None)
    await turn.plan(["first", v1.PlanEntry(content="second", priority="low", status="pending")])
    turn.tool_call("Call", kind="reading")  # refused
    await turn.choose("Which?", ["a"])  # refused


@tools.prompt
async def untyped(turn: Turn) -> None:
    await turn.session.mcp.call_tool("a__b", {})


def refused() -> None:
    Agent("a")  # refused
    Agent("a", version="1.0", accepts={"video"})  # refused
    Agent("a", version="1.0", capabilities={"session.frok"})  # refused
    hello.option("a", "A", {"x": "X"})  # refused


def stores() -> None:
    each: SessionStore = MemorySessions()
    each = FolderSessions("/tmp/sessions")
    Agent("a", version="1.0", sessions=each, accepts={"image", "audio"}, capabilities={"session.title"}).run()
    bare: Agent = tools
    print(bare)

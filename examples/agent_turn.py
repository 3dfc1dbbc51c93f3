"""One turn of the agent: a prompt is obeyed line by line, with a tiny command language in place of a model."""

from __future__ import annotations

import json
import shlex
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import anyio
from agent_session import Session

import mcp_launch
from acp_bindings import v1, v2
from acp_bindings.connection import RequestFailed
from acp_bindings.setup import History, OutsideRoots

StopReason = Literal["end_turn", "cancelled"]

HELP = """\
say TEXT             I say it
slow NUMBER          I count to it, slowly
tools                the tools of the MCP servers
servers              how the MCP servers are
call TOOL NAME=VALUE …
                     I call a tool
read PATH            I read a file of the project
write PATH TEXT      I write one, if you allow it
"""

FAILURES = (
    mcp_launch.LaunchError,
    RequestFailed,
    OutsideRoots,
    OSError,
    UnicodeError,
    ValueError,
)
"""What a tool may fail with; the model, had we one, would be told."""


class Turn:
    """The answer to one prompt, streamed while it is made."""

    def __init__(self, session: Session, prompt: v1.PromptRequest) -> None:
        self.session = session
        self.lines = [line for block in prompt.prompt for line in _text(block).splitlines() if line.strip()]
        self.user_message, self._message = str(uuid.uuid4()), str(uuid.uuid4())
        self.echo = History(v1).add_prompt(prompt, message_id=self.user_message)
        """The prompt as it stands in the history."""
        # A list of sessions has the title of each.
        self.title = self.lines[0][:80] if self.lines else ""

    async def run(self) -> StopReason:
        """Obey each line, until there is none left or the client cancels."""
        assert self.session.prompt
        with self.session.prompt as scope:
            for line in self.lines:
                await obey(self, line)
        return "cancelled" if scope.cancelled_caught else "end_turn"

    async def say(self, text: str) -> None:
        """Stream a piece of the answer."""
        await self.session.tell(v1.AgentMessageChunk(content=v1.TextContent(text=text), message_id=self._message))

    async def use(
        self,
        title: str,
        kind: v1.ToolKind,
        work: Callable[[str], Awaitable[v1.SessionToolCallUpdate]],
        **input_: Any,
    ) -> None:
        """Do some work as a tool call, which the client sees begin and end, also when it is cancelled."""
        id_ = str(uuid.uuid4())
        await self.session.tell(
            v1.ToolCall(tool_call_id=id_, title=title, kind=kind, status="in_progress", raw_input=input_)
        )
        end = v1.SessionToolCallUpdate(tool_call_id=id_, status="failed")
        try:
            end = await work(id_)
        except FAILURES as error:
            end = ended(id_, str(error), status="failed")
        finally:
            # The client waits for the end of what it has cancelled, but not for ever for one that does not listen.
            with anyio.move_on_after(1, shield=True):
                await self.session.tell(end)


def ended(id_: str, text: str, *, status: Literal["completed", "failed"] = "completed") -> v1.SessionToolCallUpdate:
    """The end of a tool call."""
    content: list[v1.ToolCallContent] = [v1.Content(content=v1.TextContent(text=text))]
    return v1.SessionToolCallUpdate(tool_call_id=id_, status=status, content=content)


async def obey(turn: Turn, line: str) -> None:
    """Do what a line asks for."""
    name, _, rest = line.strip().partition(" ")
    command = COMMANDS.get(name)
    try:
        if command:
            await command(turn, rest.strip())
        else:
            await turn.say(f'I do not know "{name}"; try help\n')
    except ValueError as error:
        await turn.say(f"I do not understand that: {error}\n")


async def say_help(turn: Turn, _: str) -> None:
    await turn.say(HELP)


async def say(turn: Turn, text: str) -> None:
    await turn.say(f"{text}\n")


async def count(turn: Turn, last: str) -> None:
    for number in range(1, int(last) + 1):
        await turn.say(f"{number}\n")
        await anyio.sleep(0.5)


async def tools(turn: Turn, _: str) -> None:
    for entry in turn.session.fleet.catalogue:
        await turn.say(f"{entry.name}: {entry.tool.description}\n")


async def servers(turn: Turn, _: str) -> None:
    for server in turn.session.fleet:
        await turn.say(f"{server.failure or f'{server.name}: {server.state}'}\n")


async def call(turn: Turn, rest: str) -> None:
    tool, _, given = rest.partition(" ")
    pairs = (each.partition("=") for each in shlex.split(given))
    arguments = {name: _value(value) for name, _, value in pairs}

    async def work(id_: str) -> v1.SessionToolCallUpdate:
        # The SDK takes most of a second to load; whoever has no MCP servers does without.
        from mcp import MCPError  # noqa: PLC0415

        try:
            result = await turn.session.fleet.call_tool(tool, arguments)
        except MCPError as error:
            return ended(id_, str(error), status="failed")
        return mcp_launch.tool_call_update(v1.SessionToolCallUpdate, id_, result)

    await turn.use(rest, "other", work, **arguments)


async def read(turn: Turn, path: str) -> None:
    session = turn.session

    async def work(id_: str) -> v1.SessionToolCallUpdate:
        real = session.roots.resolve(path)
        if session.client.supports("fs.read_text_file"):
            # The client may have it open, with changes that are not saved.
            file = await session.connection.request(v1.ReadTextFileRequest(session_id=session.id, path=str(real)))
            return ended(id_, file.content)
        await _refuse_what_is_no_file(real)
        return ended(id_, await anyio.Path(real).read_text())

    await turn.use(f"read {path}", "read", work, path=path)


async def write(turn: Turn, rest: str) -> None:
    session = turn.session
    path, _, text = rest.partition(" ")

    async def work(id_: str) -> v1.SessionToolCallUpdate:
        real = session.roots.resolve(path)
        if not await _allowed(session, id_, f"Write to {path}?"):
            return ended(id_, "not allowed", status="failed")
        if session.client.supports("fs.write_text_file"):
            await session.connection.request(
                v1.WriteTextFileRequest(session_id=session.id, path=str(real), content=text)
            )
        else:
            await _refuse_what_is_no_file(real)
            await anyio.Path(real).write_text(text)
        return ended(id_, f"{len(text)} characters")

    await turn.use(f"write {path}", "edit", work, path=path)


COMMANDS: dict[str, Callable[[Turn, str], Awaitable[None]]] = {
    "call": call,
    "help": say_help,
    "read": read,
    "say": say,
    "servers": servers,
    "slow": count,
    "tools": tools,
    "write": write,
}


async def _refuse_what_is_no_file(path: Path) -> None:
    """A thread that waits for the other end of a named pipe could not be cancelled."""
    if await anyio.Path(path).exists() and not await anyio.Path(path).is_file():
        raise OSError(f"{path} is not a file")


async def _allowed(session: Session, tool_call: str, question: str) -> bool:
    """Whether the user allows a tool call."""
    if session.client.version == 1:
        request: Any = v1.RequestPermissionRequest(
            session_id=session.id,
            tool_call=v1.ToolCallUpdate(tool_call_id=tool_call, title=question),
            options=[
                v1.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                v1.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ],
        )
    else:
        request = v2.RequestPermissionRequest(
            session_id=session.id,
            title=question,
            subject=v2.ToolCallPermissionSubject(tool_call=v2.ToolCallUpdate(tool_call_id=tool_call)),
            options=[
                v2.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                v2.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ],
        )
    outcome = (await session.connection.request(request)).outcome
    selected = isinstance(outcome, v1.SelectedPermissionOutcome | v2.SelectedPermissionOutcome)
    return selected and outcome.option_id == "yes"


def _text(block: v1.ContentBlock) -> str:
    """What there is to obey in a block; every agent has to take text and links."""
    if isinstance(block, v1.TextContent):
        return block.text
    return f"say you gave me {block.name}" if isinstance(block, v1.ResourceLink) else ""


def _value(text: str) -> Any:
    """An argument as JSON, if it is some, or as text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

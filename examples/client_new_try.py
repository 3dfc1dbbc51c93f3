"""An ACP client: starts any agent, gives it MCP servers of every kind, talks with it, and loads the session again.

python examples/client.py -- python examples/agent.py
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from client_editor import offered
from client_recording import Recorder
from demo import example_request

from acp_bindings import AcpError, v1, v2
from acp_bindings.client import Client, Files, PermissionQuestion, Session
from acp_bindings.setup import RequestError

PACKAGES = {1: v1, 2: v2}
PROMPTS = {
    "greeter": "call greeter__greet name=Ada",
    "library": "call library__find_book topic=protocols",
    "clock": "call clock__weekday date=2026-01-01",
    "editor": "call editor__selection\nwrite notes.txt remember",
}
"""The default prompts, one for each server that the agent accepts."""


class View:
    """Prints a conversation, a line at a time. History is marked with `|`."""

    def __init__(self, *, allow: bool) -> None:
        self._allow = allow
        self._begun = ("", "")

    def note(self, who: str, text: object) -> None:
        """Print what happens, after what has been streamed so far."""
        (speaker, line), self._begun = self._begun, ("", "")
        lines = [(speaker, line)] if line else []
        for name, each in [*lines, *((who, each) for each in str(text).splitlines())]:
            try:
                print(f"{name:<8} {each}", flush=True)
            except BrokenPipeError:  # the reader has exited; Python would complain about the rest at its end
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def update(self, session: Session, update: Any, is_history: bool) -> None:  # noqa: FBT001 - as the client calls it
        """Print an update of the agent."""
        mark = "| " if is_history else ""
        match update:
            case v1.UserMessageChunk():
                if is_history:
                    self.note(f"{mark}you", _text(update.content))
            case v1.AgentMessageChunk():
                who, text = f"{mark}agent", _text(update.content)
                *lines, rest = ((self._begun[1] if self._begun[0] == who else "") + text).split("\n")
                if self._begun[0] == who:
                    self._begun = ("", "")
                self.note(who, "\n".join(lines))
                self._begun = (who, rest)
            case v1.ToolCall() | v1.SessionToolCallUpdate() if update.status in ("completed", "failed"):
                call = session.state.tool_call(update.tool_call_id)
                told = " ".join(_text(each.content) for each in update.content or () if each.type == "content")
                how = f"→ {told.strip() or update.status}" if update.status == "completed" else f"failed: {told}"
                self.note(f"{mark}tool", f"{call.title if call else '?'} {how}")
            case v1.Notice():
                self.note(f"{mark}{update.severity}", update.title)
            case v1.ToolCall() | v1.SessionToolCallUpdate():
                pass
            case _ if update.session_update != "state_update":
                self.note(f"{mark}update", update.session_update)
            case _:
                pass

    def permit(self, question: PermissionQuestion) -> v1.PermissionOption | None:
        """Answer a question of the agent as the command line says."""
        chosen = question.option("allow_once" if self._allow else "reject_once")
        self.note("asked", f"{question.title} {chosen.name if chosen else 'Cancelled'}")
        return chosen


def _text(block: v1.ContentBlock) -> str:
    return block.text if isinstance(block, v1.TextContent) else f"[{block.type}]"


async def talk(options: argparse.Namespace, servers: Sequence[Any], recorder: Recorder | None) -> None:
    """Run the whole conversation."""
    view = View(allow=options.allow)
    protocols = [PACKAGES[each] for each in options.versions or PACKAGES]
    client = Client(
        "example-client",
        title="The Example Client",
        version="1.0",
        permission=view.permit,
        files=Files(options.cwd),
        on_update=view.update,
        protocols=protocols,
    )
    command = options.command or [sys.executable, Path(__file__).with_name("agent.py")]
    async with client.connect(command, trace=recorder, timeout=30) as agent:
        view.note("agent", agent.peer)
        async with offered(agent.peer) as own:
            async with agent.session(cwd=options.cwd, mcp_servers=[*servers, *own], on_refusal="drop") as session:
                for refused in session.refused:
                    view.note("left out", refused)
                view.note("servers", ", ".join(session.record.server_names))
                for text in options.prompts or [PROMPTS[each] for each in session.record.server_names]:
                    view.note("you", text)
                    view.note("done", await session.prompt(text))
            if agent.peer.supports("session.load"):
                listed = await agent.list() if agent.peer.supports("session.list") else None
                for remark in session.record.load_remarks(listed=listed):
                    view.note("remark", remark)
                view.note("load", "the session again")
                await agent.load(session.record)
        for remark in agent.remarks:
            view.note("remark", remark)


def main() -> int:
    """Read the command line and talk. Return 1 if that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", nargs="*", help="the agent, after --; by default the example agent")
    parser.add_argument("--cwd", type=Path, default=Path.cwd(), help="the directory of the session")
    parser.add_argument("--version", type=int, choices=PACKAGES, action="append", dest="versions", help="default: both")
    parser.add_argument("--prompt", action="append", dest="prompts", metavar="TEXT", help="a prompt; may be repeated")
    parser.add_argument("--allow", action="store_true", help="allow what the agent asks for")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the conversation to a file, without secrets")
    options = parser.parse_args()
    options.cwd = options.cwd.absolute()
    if not options.cwd.is_dir():
        parser.error(f"--cwd: this directory does not exist: {options.cwd}")
    with contextlib.ExitStack() as stack:
        recorder = None
        if options.record:
            try:
                recorder = Recorder(stack.enter_context(options.record.open("w", encoding="utf-8")))
            except OSError as error:
                parser.error(f"--record: {error}")
        request = stack.enter_context(example_request())
        try:
            anyio.run(talk, options, request["params"]["mcpServers"], recorder)
        except AcpError as error:
            # The official SDKs have the reason in the data, and "Internal error" in the message.
            details = [error.data["details"]] if isinstance(error, RequestError) and "details" in (error.data or ()) else []
            print(error, *details, sep=": ", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

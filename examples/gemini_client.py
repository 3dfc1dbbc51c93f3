"""A client of the Gemini CLI in the console: the official SDK's `gemini.py`. Other agents work as well.

python examples/gemini_client.py [--yolo] -- gemini --experimental-acp
"""

import argparse
import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import anyio

from acp_bindings import v1
from acp_bindings.client import Client, Files, PermissionQuestion, Session, Terminals
from acp_bindings.setup import RequestError

lines: asyncio.Queue[str | None] = asyncio.Queue()
"""The lines of the user, and None at the end of the input."""


class GeminiFiles(Files):
    """Reads a missing file as an empty text, because Gemini CLI 0.61.0 reads each file before it creates it."""

    async def read(self, path: Path) -> str:
        try:
            return await super().read(path)
        except FileNotFoundError:
            return ""


async def ask(question: PermissionQuestion) -> v1.PermissionOption | None:
    print(f"\nPermission requested: {question.title}")
    for number, option in enumerate(question.options, start=1):
        print(f"  {number}. {option.name} ({option.kind})")
    while question.options and (choice := await read("Select option: ")) is not None:
        if choice.isdigit() and 1 <= int(choice) <= len(question.options):
            return question.options[int(choice) - 1]
        print("Invalid selection, try again.")
    return None


def allow(question: PermissionQuestion) -> v1.PermissionOption | None:
    return question.option("allow_once", "allow_always")


def show(session: Session, update: Any, is_history: bool) -> None:
    match update:
        case v1.AgentMessageChunk(content=v1.TextContent(text=text)):
            print(text, end="", flush=True)
        case v1.AgentThoughtChunk(content=v1.TextContent(text=text)):
            print(f"\n[thought] {text}")
        case v1.Plan(entries=entries):
            print("\n[plan]", *(f" - {each.status.upper():<11} {each.content}" for each in entries), sep="\n")
        case v1.ToolCall() | v1.SessionToolCallUpdate():
            call = session.state.tool_call(update.tool_call_id)
            print(f"\n{call.title if call else update.tool_call_id}: {update.status or 'pending'}")
            for each in update.content or ():
                print(f"  diff: {each.path}" if isinstance(each, v1.Diff) else f"  {each.type}")
        case _:
            pass


async def main(options: argparse.Namespace) -> None:
    client = Client(
        "gemini-client",
        version="0.1.0",
        permission=allow if options.yolo else ask,
        files=GeminiFiles(),
        terminals=Terminals(),
        on_update=show,
    )
    # A daemon, because the exit waits for other threads.
    threading.Thread(target=listen, args=[asyncio.get_running_loop()], daemon=True).start()
    async with client.connect(options.command) as agent, agent.session(cwd=Path.cwd()) as session:
        print(f"Connected to {agent.peer}, session {session.id}. :exit ends.")
        while (line := await read("\n> ")) not in (None, ":exit"):
            try:
                print(f"\n[{await session.prompt(line or '')}]")
            except RequestError as error:
                print(error, file=sys.stderr)


async def read(question: str) -> str | None:
    print(question, end="", flush=True)
    line = await lines.get()
    if line is None:
        lines.put_nowait(None)  # for the next call
    return line


def listen(loop: asyncio.AbstractEventLoop) -> None:
    """Put what the user enters into `lines`."""
    with open(0, closefd=False) as stdin:  # `sys.stdin` would be locked at the exit
        for line in stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line.strip())
    loop.call_soon_threadsafe(lines.put_nowait, None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Talk with the Gemini CLI, or with another agent.")
    parser.add_argument("--yolo", action="store_true", help="allow everything")
    parser.add_argument("command", nargs="*", default=["gemini", "--experimental-acp"], help="the agent, after --")
    anyio.run(main, parser.parse_args())

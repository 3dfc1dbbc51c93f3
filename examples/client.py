"""An ACP client: starts any agent, gives it MCP servers of every kind, talks with it, and loads the session again.

python examples/client.py -- python examples/agent.py
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
from client_editor import offered
from client_view import View
from demo import example_request

from acp_bindings import AcpError, v1, v2
from acp_bindings.client import Client, Files
from acp_bindings.recordings import Recorder
from acp_bindings.setup import RequestError

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage

PACKAGES: dict[int, ProtocolPackage] = {1: v1, 2: v2}
PROMPTS = {
    "greeter": "call greeter__greet name=Ada",
    "library": "call library__find_book topic=protocols",
    "clock": "call clock__weekday date=2026-01-01",
    "editor": "call editor__selection\nwrite notes.txt remember",
}
"""The default prompts, one for each server that the agent accepts."""


async def talk(options: argparse.Namespace, view: View, servers: Sequence[Any], recorder: Recorder | None) -> None:
    """Run the whole conversation."""

    def trace(who: Literal["us", "peer"], line: bytes) -> None:
        if recorder:
            recorder.message("client" if who == "us" else "agent", line)

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
    is_url = "://" in str(command[0])
    place, log = (str(command[0]), None) if is_url else (command, partial(print, file=sys.stderr))
    async with client.connect(place, stderr=log, trace=trace, timeout=30) as agent:
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
        for finding in agent.remarks:
            view.note("remark", finding)


def main() -> int:
    """Read the command line and talk. Return 1 if that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", nargs="*", help="the agent, after --, or its URL; by default the example agent")
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
                recorder = Recorder(stack.enter_context(options.record.open("wb")))
            except OSError as error:
                parser.error(f"--record: {error}")
        request = stack.enter_context(example_request())
        try:
            with contextlib.closing(View(allow=options.allow)) as view:
                anyio.run(talk, options, view, request["params"]["mcpServers"], recorder)
        except AcpError as error:
            match error:
                # The official SDKs have the reason in the data, and "Internal error" in the message.
                case RequestError(data={"details": str(details)}):
                    print(error, details, sep=": ", file=sys.stderr)
                case _:
                    print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

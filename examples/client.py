"""An ACP client: starts any agent, gives it MCP servers of every kind, talks with it, and loads the session again.

python examples/client.py -- python examples/agent.py
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from client_editor import offered
from client_recording import Recorder
from client_side import CAPABILITIES, Side
from client_view import View
from demo import example_request

from acp_bindings import AcpError, v1, v2
from acp_bindings.connection import Connection, RequestFailed, connect_process, initialize
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import (
    OPENING,
    AgentPeer,
    ClientHandshake,
    RequestError,
    SessionListing,
    SessionRecord,
    check_message,
    close_session,
    error_from,
    gate_mcp_servers,
    load_session,
    new_session,
    servers_for,
)

PACKAGES: dict[int, ProtocolPackage] = {1: v1, 2: v2}
PROMPTS = {
    "greeter": "call greeter__greet name=Ada",
    "library": "call library__find_book topic=protocols",
    "clock": "call clock__weekday date=2026-01-01",
    "editor": "call editor__selection\nwrite notes.txt remember",
}
"""What is said, unless the command line says it, to an agent that took these servers."""


class Client:
    """A client of one agent: each step of a conversation, for v1 and v2 alike."""

    def __init__(self, connection: Connection, agent: AgentPeer, side: Side, view: View) -> None:
        self.agent = agent
        self._connection = connection
        self._side = side
        self._view = view

    async def new(self, cwd: Path, servers: Sequence[Any]) -> SessionRecord:
        """A new session, with those of the MCP servers that the agent can reach."""
        gated = gate_mcp_servers(self.agent, servers_for(self.agent.protocol, servers), on_refusal="drop")
        for refused in gated.refused:
            self._view.note("left out", refused)
        request = new_session(self.agent, cwd=cwd, mcp_servers=gated.accepted)
        session = SessionRecord.of(request, (await self._ask(request)).session_id)
        # What the agent told of it before it answered.
        self._side.show(self._side.updates.created(session.session_id))
        self._view.note("servers", ", ".join(session.server_names))
        return session

    async def prompt(self, session: SessionRecord, text: str) -> SessionRecord:
        """Say something, and wait until the agent is done."""
        self._view.note("you", text)
        wire: Any = self.agent.protocol
        idle, reasons = anyio.Event(), list[str]()

        def stop(reason: str) -> None:
            reasons.append(reason)
            idle.set()

        self._side.when_idle(session.session_id, stop)
        self._side.updates.prompted(session.session_id)
        request = wire.PromptRequest(session_id=session.session_id, prompt=[wire.TextContent(text=text)])
        answer = await self._ask(request)
        if self.agent.version == 1:
            stop(answer.stop_reason)
        # The answer of v2 says that the prompt has come; a state says that its turn is over.
        await self._connection.wait_for(idle.wait())
        self._view.note("done", reasons[0])
        return session.after_prompt()

    async def close(self, session: SessionRecord) -> None:
        """Let the agent free what the session holds."""
        await self._ask(close_session(self.agent, session))
        self._side.updates.closed(session.session_id)

    async def listed(self) -> list[Any]:
        """What the agent knows of its sessions."""
        listing, found = SessionListing(self.agent), list[Any]()
        while listing.request is not None:
            found += listing.take(await self._ask(listing.request))
        return found

    async def load(self, session: SessionRecord) -> None:
        """The session again; its history is shown as it comes, before the answer."""
        request = load_session(self.agent, session)
        self._side.updates.expect(request)
        try:
            await self._ask(request)
        except AcpError:
            self._side.updates.failed(session.session_id)
            raise
        self._side.updates.opened(session.session_id)
        self._view.flush()
        for remark in self._side.updates.remarks:
            self._view.note("remark", remark)

    async def _ask(self, request: Any) -> Any:
        """The answer to what the agent has advertised; an error as what it means."""
        check_message(self.agent, request)
        try:
            return await self._connection.request(request)
        except RequestFailed as error:
            session_id = getattr(request, "session_id", None)
            raise error_from(error, peer=self.agent, session_id=session_id) from error


async def talk(options: argparse.Namespace, servers: Sequence[Any], recorder: Recorder | None) -> None:
    """The whole conversation."""
    view = View()
    side = Side(view, options.cwd, allow=options.allow)
    handshake = ClientHandshake(
        info=v1.Implementation(name="example-client", title="The Example Client", version="1.0"),
        protocols=[PACKAGES[each] for each in options.versions],
        # v2 has no files of the client.
        capabilities={each for each in CAPABILITIES if 1 in options.versions or not each.startswith("fs.")},
    )
    command = options.command or [sys.executable, Path(__file__).with_name("agent.py")]
    async with connect_process(command, protocol=OPENING, handlers=side.handlers, trace=recorder) as connection:
        try:
            agent = await initialize(connection, handshake, timeout=30)
        except RequestFailed as error:
            raise error_from(error) from error
        view.note("agent", agent)
        client = Client(connection, agent, side, view)
        async with offered(agent) as own:
            session = await client.new(options.cwd, [*servers, *own])
            for text in options.prompts or [PROMPTS[each] for each in session.server_names]:
                session = await client.prompt(session, text)
            if agent.supports("session.close"):
                await client.close(session)
            if agent.supports("session.load"):
                found = await client.listed() if agent.supports("session.list") else None
                for remark in session.load_remarks(listed=found):
                    view.note("remark", remark)
                view.note("load", "the session again")
                await client.load(session)


def main() -> int:
    """Read the command line and talk; 1 when that did not work."""
    parser = arguments()
    options = parser.parse_args()
    options.versions = options.versions or list(PACKAGES)
    options.cwd = options.cwd.absolute()
    if not options.cwd.is_dir():
        parser.error(f"--cwd: there is no such directory: {options.cwd}")
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
            print(error, *reason_of(error), sep=": ", file=sys.stderr)
            return 1
    return 0


def reason_of(error: AcpError) -> list[str]:
    """Why the agent says that it failed: with the official SDKs not in the message, which is "Internal error"."""
    match error:
        case RequestError(data={"details": str(details)}):
            return [details]
        case _:
            return []


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", nargs="*", help="the agent, after --; the example agent unless it is said")
    parser.add_argument("--cwd", type=Path, default=Path.cwd(), help="the directory of the session")
    parser.add_argument(
        "--version",
        type=int,
        choices=PACKAGES,
        action="append",
        dest="versions",
        help="of the protocol; both are offered unless it is said",
    )
    parser.add_argument(
        "--prompt",
        action="append",
        dest="prompts",
        metavar="TEXT",
        help="what to say, in place of the examples; may be repeated",
    )
    parser.add_argument("--allow", action="store_true", help="allow what the agent asks to be allowed")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the conversation down, without secrets")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""Commands that an agent runs: in a terminal of the client if it has them, otherwise on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from acp_bindings import v1
from acp_bindings._processes.process import ChildProcess, to_the_end, uncoloured
from acp_bindings._terminal import Terminal
from acp_bindings.connection.errors import alone
from acp_bindings.errors import AcpError

if TYPE_CHECKING:
    from acp_bindings.agent._tool_call import ToolCall
    from acp_bindings.agent._turn import Turn

_RELEASE = 1.0
"""Seconds for the client to release a terminal."""


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """The end of a command that `Turn.run_command` has run."""

    output: str
    """The text of standard output and standard error, or its end; from a terminal of the client, without colours."""
    is_truncated: bool
    """True if the beginning of the output is missing, because there was too much."""
    exit_code: int | None
    """The exit code; None if a signal ended the command, or it was stopped because it took too long."""
    signal: str | None = None
    """The name of the signal that ended the command, such as `SIGSEGV`."""
    timed_out: bool = False
    """True if it took too long and was stopped."""

    def __str__(self) -> str:
        """Return the output and how the command ended, for a model."""
        if self.timed_out:
            end = "timed out"
        elif self.signal:
            end = f"ended by {self.signal}"
        else:
            end = f"exit code {self.exit_code}"
        begin = "[the beginning is left out]\n" if self.is_truncated else ""
        return f"{begin}{self.output.rstrip()}\n[{end}]".lstrip()


async def run_in_terminal(
    turn: Turn[Any], create: Any, *, timeout: float | None, call: ToolCall | None
) -> CommandResult:
    """Run the command of the request *create* in a terminal of the client, which shows it in *call*."""
    session = turn.session
    wire: Any = session.connection.protocol
    this: Any = {"session_id": session.id}

    async def create_terminal() -> None:
        this["terminal_id"] = (await session.request(create, method="terminal/create")).terminal_id

    try:
        try:
            # Editors create it also if the turn is cancelled meanwhile. Without its id, it could not be released.
            await to_the_end(create_terminal)
        except ExceptionGroup as error:
            raise alone(error) from None
        turn.check_running()
        if call:
            # It is not stored, because the terminal is gone when the session is loaded.
            content: list[v1.ToolCallContent] = [v1.Terminal(terminal_id=this["terminal_id"])]
            await session.show(v1.SessionToolCallUpdate(tool_call_id=call.id, content=content))
        with anyio.move_on_after(timeout) as patience:
            await session.request(wire.WaitForTerminalExitRequest(**this), method="terminal/wait_for_exit")
        if patience.cancelled_caught:
            await session.request(wire.KillTerminalRequest(**this), method="terminal/kill")
        found = await session.request(wire.TerminalOutputRequest(**this), method="terminal/output")
        # Some clients run it in a pseudo-terminal.
        found.output = uncoloured(found.output).replace("\r\n", "\n")
        if call:
            call.terminal_output = found.output
    finally:
        # Releasing a terminal also ends a command that still runs. An error changes nothing about its result.
        if "terminal_id" in this:
            with anyio.move_on_after(_RELEASE, shield=True), suppress(AcpError):
                await session.request(wire.ReleaseTerminalRequest(**this), method="terminal/release")
    return _result(found, timed_out=patience.cancelled_caught)


async def run_here(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], timeout: float | None, limit: int
) -> CommandResult:
    """Run *command* on this machine. Its children end with it, also when it takes too long or is cancelled."""
    process = await ChildProcess.start(command, cwd=cwd, env={**os.environ, **env}, without_input=True)
    terminal = Terminal(process, limit)
    patience = anyio.move_on_after(timeout)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(terminal.run)
        try:
            with patience:
                await terminal.exited.wait()
        finally:
            await terminal.end()
    return _result(terminal.output(), timed_out=patience.cancelled_caught)


def _result(found: v1.TerminalOutputResponse, *, timed_out: bool) -> CommandResult:
    end = None if timed_out else found.exit_status
    return CommandResult(
        output=found.output,
        is_truncated=found.truncated,
        exit_code=end.exit_code if end else None,
        signal=end.signal if end else None,
        timed_out=timed_out,
    )

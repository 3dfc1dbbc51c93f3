"""The terminals of a client, for agents of v1: `terminal/create` and four more requests."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from typing import Any

import anyio
from anyio.abc import TaskGroup

from acp_bindings import v1
from acp_bindings._processes.process import ChildProcess, Tail, signal_name, to_the_end
from acp_bindings.setup._paths import OutsideRoots, Roots, require_absolute
from acp_bindings.setup.errors import NOT_FOUND, InvalidParams, RequestError

MOST_OUTPUT = 1024 * 1024
"""The default maximum output of a terminal that is kept, in bytes."""
_LAST_WORDS = 0.2
"""Seconds for output that was written before a process exited."""


class Terminals:
    """Runs commands for an agent.

        client = Client("editor", version="1.0", terminals=Terminals())

    A command is run without a shell and without input, in a directory of the session or of the client, with the
    environment of this process and that of the request. It may do all that you may do: decide about it in the
    permission request that comes before. A command ends when it is released, and with its session and the connection,
    together with all processes that it has started.
    """

    def __init__(self, *roots: str | os.PathLike[str], most_output: int = MOST_OUTPUT, most: int = 100) -> None:
        """Create the terminals.

        Args:
            roots: the directories in which commands may be run; by default those of each session. The first is the
                default.
            most_output: the maximum number of bytes of output that is kept, also if the agent requests more.
            most: the maximum number of terminals of a connection that are not released.

        Raises:
            NotAbsolute: a directory is not an absolute path of this system.
        """
        self.roots = Roots(*roots) if roots else None
        self.most_output = most_output
        self.most = most


class _Terminal:
    """A running command."""

    def __init__(self, session_id: str, process: ChildProcess, limit: int) -> None:
        self.session_id = session_id
        self._process = process
        self._output = Tail(limit)
        self._reading = anyio.CancelScope()
        self._has_read = anyio.Event()
        self.exited = anyio.Event()
        """Set when the process has exited and its output was read."""
        self._ending = False

    async def run(self) -> None:
        """Read the output until the process exits or is stopped."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch)
                with self._reading:
                    await self._process.read_output(self._output.add)
                self._has_read.set()
        finally:
            self._has_read.set()
            await self.end()

    async def _watch(self) -> None:
        await self._process.wait()
        with anyio.move_on_after(_LAST_WORDS):
            await self._has_read.wait()
        self.exited.set()

    async def end(self) -> None:
        """Kill the process and all that it has started, and wait for their end. The output stays."""
        if self._ending:
            await self.exited.wait()
            return
        self._ending = True
        self._reading.cancel()

        async def stop() -> None:
            await self._has_read.wait()
            await self._process.stop(patience=0)
            self.exited.set()

        await to_the_end(stop)

    def exit(self) -> dict[str, Any] | None:
        """Return the exit status as the fields of the protocol; None while it runs."""
        status = self._process.returncode
        if status is None or not self.exited.is_set():
            return None
        # Windows has negative codes, which the protocol does not.
        return {"signal": signal_name(status)} if status < 0 else {"exit_code": status & 0xFFFFFFFF}

    def output(self) -> v1.TerminalOutputResponse:
        """Return the output so far."""
        ended = self.exit()
        more: Any = {} if ended is None else {"exit_status": v1.TerminalExitStatus(**ended)}
        text, truncated = self._output.text(complete=ended is not None)
        return v1.TerminalOutputResponse(output=text, truncated=truncated, **more)


class OpenTerminals:
    """The terminals of one connection."""

    def __init__(self, settings: Terminals, tasks: TaskGroup) -> None:
        self._settings = settings
        self._tasks = tasks
        self._terminals: dict[str, _Terminal] = {}

    async def answer(self, params: Any, *, directories: Sequence[str]) -> Any:
        """Return the response to a request, in v1; None for the empty one.

        Raises:
            RequestError: the request cannot be fulfilled.
        """
        match type(params).__name__:
            case "CreateTerminalRequest":
                return v1.CreateTerminalResponse(terminal_id=await self._create(params, directories))
            case "TerminalOutputRequest":
                return self._known(params).output()
            case "WaitForTerminalExitRequest":
                terminal = self._known(params)
                await terminal.exited.wait()
                return v1.WaitForTerminalExitResponse(**(terminal.exit() or {}))
            case "KillTerminalRequest":
                await self._known(params).end()
            case _:
                terminal = self._known(params)
                del self._terminals[params.terminal_id]
                await terminal.end()
        return None

    async def end(self, session_id: str | None = None) -> None:
        """End the terminals of a session, or all."""
        ending = {id_: each for id_, each in self._terminals.items() if session_id in (None, each.session_id)}
        for id_ in ending:
            del self._terminals[id_]
        async with anyio.create_task_group() as tasks:
            for each in ending.values():
                tasks.start_soon(each.end)

    async def _create(self, params: Any, directories: Sequence[str]) -> str:
        if len(self._terminals) >= self._settings.most:
            raise RequestError(-32603, f"{self._settings.most} terminals are open; release some with terminal/release")
        cwd = self._directory(params.cwd, directories)
        env: dict[str, str] = {**os.environ, **{each.name: each.value for each in params.env}}
        command: str = params.command
        program = shutil.which(command, path=env.get("PATH"))
        if program is None and os.path.dirname(command):
            program = shutil.which(os.path.join(cwd, command))
        if program is None:
            advice = "; pass its arguments in args" if " " in command and not params.args else ""
            raise InvalidParams(f"command: not found or not executable{advice}")
        limit = self._settings.most_output
        if params.output_byte_limit is not None:
            limit = min(limit, params.output_byte_limit)
        try:
            process = await ChildProcess.start([program, *params.args], cwd=cwd, env=env, without_input=True)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise InvalidParams(f"command: {reason or 'it cannot be started'}") from None
        id_ = str(uuid.uuid4())
        terminal = self._terminals[id_] = _Terminal(params.session_id, process, limit)
        self._tasks.start_soon(terminal.run)
        return id_

    def _directory(self, cwd: str | None, directories: Sequence[str]) -> str:
        roots = self._settings.roots or Roots(*directories)
        if cwd is None:
            return roots.directories[0]
        require_absolute(cwd, flavour="windows" if os.name == "nt" else "posix")
        try:
            found = roots.resolve(cwd)
        except OutsideRoots:
            raise InvalidParams("cwd: it is outside of the directories that this client allows") from None
        if not found.is_dir():
            raise InvalidParams("cwd: it is not a directory")
        return str(found)

    def _known(self, params: Any) -> _Terminal:
        terminal = self._terminals.get(params.terminal_id)
        if terminal is None or terminal.session_id != params.session_id:
            raise RequestError(NOT_FOUND, "the session has no such terminal")
        return terminal

"""The terminals of a client, for agents of v1: `terminal/create` and four more requests."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup

from acp_bindings import v1
from acp_bindings._envelope import INTERNAL_ERROR
from acp_bindings._processes.process import ChildProcess
from acp_bindings._terminal import Terminal
from acp_bindings.setup._paths import HERE, OutsideRoots, Roots, require_absolute
from acp_bindings.setup.errors import NOT_FOUND, InvalidParams, RequestError

MOST_OUTPUT = 1024 * 1024
"""The default maximum output of a terminal that is kept, in bytes."""


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

    def on_output(self, terminal_id: str, output: bytes) -> None:
        """Show what a command prints. Override this; it is called with each piece, which may end inside a character."""


class OpenTerminals:
    """The terminals of one connection."""

    def __init__(self, settings: Terminals, tasks: TaskGroup) -> None:
        self._settings = settings
        self._tasks = tasks
        self._terminals: dict[tuple[str, str], Terminal] = {}
        """The terminals by session and id."""
        self._starting = anyio.Lock()
        """Held while a command is started, so that none is started unnoticed or beyond the limit."""
        self._is_closed = False

    async def answer(self, params: Any, *, directories: Sequence[str]) -> Any:
        """Return the response to a request, in v1; None for the empty one.

        Raises:
            RequestError: the request cannot be fulfilled.
        """
        match type(params).__name__:
            case "CreateTerminalRequest":
                async with self._starting:
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
                del self._terminals[params.session_id, params.terminal_id]
                await terminal.end()
        return None

    async def end(self, session_id: str | None = None) -> None:
        """End the terminals of a session, or all."""
        async with self._starting, anyio.create_task_group() as tasks:
            self._is_closed = self._is_closed or session_id is None
            for key in [*self._terminals]:
                if session_id in (None, key[0]):
                    tasks.start_soon(self._terminals.pop(key).end)

    async def _create(self, params: Any, directories: Sequence[str]) -> str:
        if self._is_closed:
            raise RequestError(INTERNAL_ERROR, "the client is closing the connection")
        if len(self._terminals) >= (most := self._settings.most):
            raise RequestError(INTERNAL_ERROR, f"{most} terminals are open; release some with terminal/release")
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
        show = partial(self._settings.on_output, id_)
        terminal = self._terminals[params.session_id, id_] = Terminal(process, limit, show)
        self._tasks.start_soon(terminal.run)
        return id_

    def _directory(self, cwd: str | None, directories: Sequence[str]) -> str:
        roots = self._settings.roots or Roots(*directories)
        if cwd is None:
            return roots.directories[0]
        require_absolute(cwd, flavour=HERE)
        try:
            found = roots.resolve(cwd)
        except OutsideRoots:
            raise InvalidParams("cwd: it is outside of the directories that this client allows") from None
        except OSError as error:
            raise InvalidParams(f"cwd: {error.strerror}") from None
        if not found.is_dir():
            raise InvalidParams("cwd: it is not a directory")
        return str(found)

    def _known(self, params: Any) -> Terminal:
        terminal = self._terminals.get((params.session_id, params.terminal_id))
        if terminal is None:
            raise RequestError(NOT_FOUND, "the session has no such terminal")
        return terminal

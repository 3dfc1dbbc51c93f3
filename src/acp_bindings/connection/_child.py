"""A connection to a child process, such as an agent that a client starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Unpack

import anyio

from acp_bindings._processes.forward import LineForwarder
from acp_bindings._processes.process import ChildProcess, attended, how_it_ended, last_words, to_the_end
from acp_bindings._redact import Redactor
from acp_bindings.connection._connection import Connection, Options
from acp_bindings.connection.errors import CannotStart, ConnectionClosed, log
from acp_bindings.jsonrpc import ProtocolPackage, Role

_LAST_WORDS = 0.5
"""Seconds to wait for the exit status and the rest of standard error after the output has ended."""
_SHOWN_LINES = 20
_NO_SYSTEM_TAKES = (
    "its arguments, directory or variables contain NUL or a lone surrogate, or the name of a variable contains ="
)


class ProcessConnection(Connection):
    """A connection to a child process."""

    def __init__(
        self,
        process: ChildProcess,
        *,
        secrets: Iterable[str],
        protocol: ProtocolPackage,
        role: Role,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(process, process, protocol=protocol, role=role, grace=0, **options)
        self._process = process
        self._redactor = Redactor(secrets)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status, negative for a signal. None while the process runs."""
        return self._process.returncode

    @property
    def stderr(self) -> list[str]:
        """The last lines of standard error, with the values of `env` redacted."""
        return [self.hide(line) for line in self._process.stderr.lines()[-_SHOWN_LINES:]]

    def hide(self, text: str) -> str:
        """Return *text* with the values of `env` redacted, also where they are quoted or encoded."""
        return self._redactor(text)

    def _shown(self, text: str) -> str:
        return self.hide(text)

    async def _explain(self, end: ConnectionClosed) -> ConnectionClosed:
        await self._process.settle(_LAST_WORDS)
        status, stderr = self.exit_status, self.stderr
        reason = end.reason if status is None else f"the process {how_it_ended(status)}"
        said = last_words(stderr)
        reason += f"; it wrote to stderr: {said}" if said else "; it wrote nothing to stderr"
        return ConnectionClosed(reason, exit_status=status, stderr=stderr)


@asynccontextmanager
async def connect_process(
    command: Sequence[str | os.PathLike[str]],
    *,
    protocol: ProtocolPackage,
    role: Role = "client",
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stderr: Callable[[str], object] | None = None,
    patience: float = 5.0,
    **options: Unpack[Options],
) -> AsyncGenerator[ProcessConnection]:
    """Start a command and connect to its standard streams. The process is stopped at the end of the block.

    Args:
        command: the program, as a path or a name on `PATH`, and its arguments. No shell is used.
        protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` to negotiate the version.
        role: the role of this side; the process is the peer.
        cwd: the working directory of the process; by default that of this process.
        env: environment variables to add to those of this process. Their values are redacted in messages.
        stderr: called from a thread with each line of standard error, one at a time. If it is slow, lines are skipped
            and their number is reported. If it raises, the error is logged, and it is not called again. At the end of
            the block it has one second for the last lines.
        patience: seconds at the end of the block for the process to exit after its input is closed, and after SIGTERM.
        **options: `handlers`, `pass_unknown`, `limit`, `most_requests`, `most_bytes` and `trace`, as for `Connection`.

    Raises:
        CannotStart: the command could not be started.
        TypeError: the command is not a list or is empty, or *env* is not a mapping.
    """
    process = await start_child(command, cwd=cwd, env=env or {})
    error: BaseException | None = None
    try:
        connection = ProcessConnection(process, secrets=(env or {}).values(), protocol=protocol, role=role, **options)
        lines = LineForwarder(stderr, hide=connection.hide, failed=_log_failed_listener) if stderr else None

        async def end() -> None:
            await process.stop(patience=patience)
            if lines:
                await lines.finish()

        async with attended(process, watch=partial(_watch, process), lines=lines):
            try:
                async with connection:
                    yield connection
            except BaseException as caught:  # noqa: BLE001 - kept out of the task group, which would wrap it
                error = caught
            await to_the_end(end)
    finally:
        # Also if the connection could not be created.
        await process.stop(patience=0)
    if error is not None:
        raise error


async def start_child(
    command: Sequence[str | os.PathLike[str]], *, cwd: str | os.PathLike[str] | None, env: Mapping[str, str]
) -> ChildProcess:
    """Start a command.

    Raises:
        CannotStart: that is not possible.
        TypeError: the command is not a list or is empty, or *env* is not a mapping.
    """
    if isinstance(command, (str, bytes, os.PathLike)) or not command:
        raise TypeError('command must be a list of a program and its arguments, such as ["agent", "--acp"]')
    if not isinstance(env, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("env must be a mapping of names to values, not a list of variables as in ACP")
    program, *arguments = [os.fspath(each) for each in command]
    variables = os.environ | env
    # Windows would not find a .cmd file, such as npx.
    found = shutil.which(program, path=variables.get("PATH")) or program
    try:
        return await ChildProcess.start([found, *arguments], cwd=os.fspath(cwd or os.getcwd()), env=variables)
    except FileNotFoundError as error:
        if error.filename == found:
            reason = _why_not_found(found, folder=cwd or "", path=variables.get("PATH"))
        else:
            reason = "the working directory does not exist; check the path"
        raise CannotStart(program, reason) from error
    except OSError as error:
        raise CannotStart(program, error.strerror or str(error)) from error
    except ValueError:
        # Without the cause, which may contain the text, and so a secret.
        raise CannotStart(program, _NO_SYSTEM_TAKES) from None


def _why_not_found(program: str, *, folder: str | os.PathLike[str], path: str | None) -> str:
    """Return why a program was not found in a *folder* or on a *path*, and what to try."""
    if os.path.exists(os.path.join(folder, program)):
        if not os.path.dirname(program):
            return f'command not found on PATH; write "{os.path.join(os.curdir, program)}"'
        return "the interpreter in its first line does not exist, or it was built for another system"
    if " " in program and shutil.which(program.partition(" ")[0], path=path):
        return "command not found; pass the program and its arguments separately, not in one text"
    return "command not found; check the path"


async def _watch(process: ChildProcess) -> None:
    """End the output of a process that has exited, if another process keeps it open."""
    await process.wait_lost()
    await anyio.sleep(_LAST_WORDS)
    # Reading pauses while many messages wait for their handlers.
    while process.has_output:
        await anyio.sleep(_LAST_WORDS)
    await process.hang_up()


def _log_failed_listener(error: Exception) -> None:
    log.error("the stderr callback failed and is not called again", exc_info=error)

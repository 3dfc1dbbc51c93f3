"""A connection to a child process, such as an agent that a client starts: started, heard to the end, and ended."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypedDict, Unpack

import anyio

from acp_bindings._processes.forward import LineForwarder
from acp_bindings._processes.process import ChildProcess, attended, how_it_ended, to_the_end
from acp_bindings._redact import Redactor
from acp_bindings.connection._connection import LONGEST, MOST_BYTES, MOST_REQUESTS, Connection, Trace
from acp_bindings.connection._handlers import Handle, Handlers
from acp_bindings.connection.errors import CannotStart, ConnectionClosed, log
from acp_bindings.jsonrpc import ProtocolPackage, Role

_LAST_WORDS = 0.5
"""Seconds for the exit status and the last of standard error, when the output has ended."""
_SHOWN_LINES = 20
_NO_SYSTEM_TAKES = "there is a NUL or half a character in its arguments, directory or variables, or = in such a name"


class _Options(TypedDict):
    """What is handed on to `Connection`."""

    protocol: ProtocolPackage
    role: Role
    handlers: Handlers | Mapping[Any, Handle[Any]] | None
    pass_unknown: bool
    limit: int
    most_requests: int
    most_bytes: int
    trace: Trace | None


class ProcessConnection(Connection):
    """The connection to a child process."""

    def __init__(self, process: ChildProcess, *, secrets: Iterable[str], **options: Unpack[_Options]) -> None:
        pipes = _Pipes(process)
        super().__init__(pipes, pipes, grace=0, **options)
        self._process = process
        self._redactor = Redactor(secrets)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        return self._process.returncode

    @property
    def stderr(self) -> list[str]:
        """The last lines that it wrote to standard error, without the values of its `env`."""
        return [self.hide(line) for line in self._process.stderr.lines()[-_SHOWN_LINES:]]

    def hide(self, text: str) -> str:
        """The text without the values of its `env`, however they are quoted or coded."""
        return self._redactor(text)

    def _shown(self, text: str) -> str:
        return self.hide(text)

    async def _explain(self, end: ConnectionClosed) -> ConnectionClosed:
        await self._process.settle(_LAST_WORDS)
        status, stderr = self.exit_status, self.stderr
        reason = end.reason if status is None else f"the process {how_it_ended(status)}"
        said = next((line for line in reversed(stderr) if line.strip()), None)
        reason += f"; it said on stderr: {said}" if said else "; it said nothing on stderr"
        return ConnectionClosed(reason, exit_status=status, stderr=stderr)


@asynccontextmanager
async def connect_process(
    command: Sequence[str | os.PathLike[str]],
    *,
    protocol: ProtocolPackage,
    role: Role = "client",
    handlers: Handlers | Mapping[Any, Handle[Any]] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stderr: Callable[[str], object] | None = None,
    pass_unknown: bool = False,
    limit: int = LONGEST,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
    patience: float = 5.0,
    trace: Trace | None = None,
) -> AsyncGenerator[ProcessConnection]:
    """Start a command, and connect to its standard streams for the time of the block; no process is left at its end.

    Args:
        command: the program, by path or by a name on `PATH`, and its arguments. No shell sees it.
        protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` until one is settled on.
        role: who we are; the process is the peer.
        handlers: the handlers of what the peer sends, as `Handlers`, or by class of params or method.
        cwd: the directory it runs in; ours if there is none.
        env: variables that it gets beside ours. Their values are hidden in what is shown of it.
        stderr: called with each line that it writes to standard error, one at a time, from a thread. If it is slow it
            misses lines, and is told how many. If it raises, that is logged, and it is not called again. At the end of
            the block it has a second for the last lines.
        pass_unknown: let methods through that the protocol does not have, as if they were extensions.
        limit: bytes that a line may have. A longer one is answered with an error, and ends the connection.
        most_requests: how many requests of the peer are handled at a time. While there are as many, nothing is read.
            While a handler waits for a response of the peer, ten times as many (at least 10,000) are handled: otherwise
            both sides might wait for ever.
        most_bytes: how many bytes the peer's requests in progress may have. Another one is refused with an error; a
            single request may have more.
        patience: seconds it has at the end of the block: to leave when its input is closed, and on SIGTERM.
        trace: called with who sends it and each line, as it is read or about to be written. Lines hold secrets.

    Raises:
        CannotStart: it could not be started.
        TypeError: the command is no list, or an empty one; or *env* is no mapping; or *patience* is no number.
        ValueError: *patience* is negative or NaN.
    """
    _check(patience)
    process = await _start(command, cwd=cwd, env=env or {})
    error: BaseException | None = None
    try:
        connection = ProcessConnection(
            process,
            secrets=(env or {}).values(),
            protocol=protocol,
            role=role,
            handlers=handlers,
            pass_unknown=pass_unknown,
            limit=limit,
            most_requests=most_requests,
            most_bytes=most_bytes,
            trace=trace,
        )
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
        # Also if the connection did not come to be.
        await process.stop(patience=0)
    if error is not None:
        raise error


def _check(patience: object) -> None:
    told = f"patience is a number of seconds, at least 0, and not {patience!r}"
    if not isinstance(patience, int | float):
        raise TypeError(told)
    # Not `patience < 0`, which is false for NaN.
    if not patience >= 0:
        raise ValueError(told)


async def _start(
    command: Sequence[str | os.PathLike[str]], *, cwd: str | os.PathLike[str] | None, env: Mapping[str, str]
) -> ChildProcess:
    if isinstance(command, (str, bytes, os.PathLike)) or not command:
        raise TypeError('the command is a list of a program and its arguments, such as ["agent", "--acp"]')
    if not isinstance(env, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("env is a mapping of names to values, and no list of variables as in ACP")
    program, *arguments = [os.fspath(each) for each in command]
    variables = os.environ | env
    # Windows would not find what is there as a .cmd, such as npx.
    found = shutil.which(program, path=variables.get("PATH")) or program
    try:
        return await ChildProcess.start([found, *arguments], cwd=os.fspath(cwd or os.getcwd()), env=variables)
    except FileNotFoundError as error:
        advice = "the working directory does not exist" if error.filename != found else "no such program"
        raise CannotStart(program, f"{advice}: is the path right?") from error
    except OSError as error:
        raise CannotStart(program, error.strerror or str(error)) from error
    except ValueError:
        # Not from it: its message or object may be the text, and a secret.
        raise CannotStart(program, _NO_SYSTEM_TAKES) from None


async def _watch(process: ChildProcess) -> None:
    """End the output of a process that is gone, when somebody else holds it open."""
    await process.wait_lost()
    await anyio.sleep(_LAST_WORDS)
    await process.hang_up()


class _Pipes:
    """The standard streams of a process, which are closed when it is ended."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process
        self.send_at_once = process.send_at_once

    async def receive(self, max_bytes: int = 65536, /) -> bytes:
        """What it wrote on standard output."""
        return await self._process.receive(max_bytes)

    async def send(self, item: bytes, /) -> None:
        """Write to its standard input."""
        await self._process.send(item)

    async def aclose(self) -> None:
        """Do nothing: `connect_process` ends the process, and the pipes with it."""


def _log_failed_listener(error: Exception) -> None:
    log.error("the listener to standard error failed, and is told no more", exc_info=error)

"""A server's process: started in its own process group, its three pipes drained, and nothing of it left at the end.

Knows nothing of MCP, and does not import it, so that processes can be started before the SDK is loaded.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from subprocess import PIPE

import anyio
from anyio.abc import Process

from mcp_launch.env import CommandError, child_environment, resolve_command
from mcp_launch.failures import LaunchFailure
from mcp_launch.specs import StdioServer

if sys.platform != "win32":
    from mcp_launch.pipe import InputPipe

__all__ = ["ServerProcess", "Tail", "spawn"]

_CHUNK = 65536
_POLL = 0.01
"""How often to look whether a process group is empty, for which there is no event."""
_REAP = 1.0
"""What the event loop gets to see the death of a process that was sent SIGKILL."""
_GROUP_GRACE = 0.2
"""What a server's children get to go after SIGTERM, once the server itself has gone, and again after SIGKILL."""


async def spawn(spec: StdioServer, *, cwd: str) -> tuple[ServerProcess, str | None]:
    """Start the server's process in the session's directory; with it, a warning about its command if there is one.

    Raises:
        LaunchFailure: in stage `spawn`.
    """
    env = child_environment(spec.env)
    facts = {"command": spec.command, "cwd": cwd}
    try:
        if not os.path.isdir(cwd):
            wrong = "is a file" if os.path.exists(cwd) else "does not exist"
            raise CommandError("failed", f'the working directory {wrong}: "{cwd}"')
        path, warning = resolve_command(spec.command, cwd=cwd, env=env)
        return await ServerProcess.start([path, *spec.args], cwd=cwd, env=env), warning
    except CommandError as error:
        raise LaunchFailure(str(error), server=spec.name, stage="spawn", code=error.code, facts=facts) from None
    except FileNotFoundError as error:
        # The file is there, so what is missing is the program that its first line names.
        message = f'the interpreter in the first line of "{spec.command}" does not exist'
        raise LaunchFailure(message, server=spec.name, stage="spawn", code="not_executable", facts=facts) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        hint = '; does it begin with a "#!" line?' if error.errno == errno.ENOEXEC else ""
        message = f'cannot run "{spec.command}": {reason}{hint}'
        raise LaunchFailure(message, server=spec.name, stage="spawn", code="not_executable", facts=facts) from error


class Tail:
    """The last bytes of a stream, however much was written."""

    def __init__(self, limit: int = 16384) -> None:
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.dropped = False

    def add(self, chunk: bytes) -> None:
        """Append, and forget what is too old."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())
            self.dropped = True

    def lines(self) -> list[str]:
        """The lines that are whole: when the start was dropped, the first one is not, and may hold half a secret."""
        lines = b"".join(self._chunks).decode(errors="replace").splitlines()
        if not self.dropped:
            return lines
        return lines[1:] or [f"[a line of more than {self._limit} bytes]"]


class ServerProcess:
    """One running server process. `start` it, read `lines`, `send`, and always `stop` it."""

    def __init__(self, process: Process, pipe: InputPipe | None) -> None:
        stdin, stdout, stderr = pipe or process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise ValueError("the process must have three pipes")
        self._process = process
        self._pipe = pipe
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self.stderr = Tail()
        self.overflowed = False
        """Whether it wrote a line that was too long to go on."""
        self._stderr_ended = anyio.Event()
        self._stopped = False

    @classmethod
    async def start(cls, command: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> ServerProcess:
        """Start the command in a process group of its own.

        Raises:
            OSError: it could not be started.
        """
        pipe = None if sys.platform == "win32" else InputPipe()
        try:
            # Shielded: a cancellation between fork and return would leave a process that nobody knows of.
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    list(command),
                    stdin=pipe.child_end if pipe else PIPE,
                    cwd=cwd,
                    env=dict(env),
                    start_new_session=True,
                )
            return cls(process, pipe)  # pyright: ignore[reportPossiblyUnboundVariable] - nobody cancels that scope
        except BaseException:
            if pipe:
                await pipe.aclose()
            raise
        finally:
            if pipe:
                os.close(pipe.child_end)

    @property
    def pid(self) -> int:
        """The process id, which is the id of its process group too."""
        return self._process.pid

    @property
    def read_input(self) -> bool:
        """Whether it has read anything of what it was sent, as far as the system can tell."""
        return self._pipe is None or self._pipe.was_read()

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal, or None while it runs."""
        return self._process.returncode

    async def lines(self, *, longest: int) -> AsyncIterator[bytes]:
        """The lines on standard output, without their line ends, until it is closed or one has more bytes than that.

        The pieces of a long line are joined once, so that a line of 20 MB costs 20 MB and not their square.
        """
        pieces: list[bytes] = []
        size = 0
        while True:
            try:
                chunk = await self._stdout.receive(_CHUNK)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                break
            head, *rest = chunk.split(b"\n")
            pieces.append(head)
            size += len(head)
            if size > longest:
                self.overflowed = True
                return
            for piece in rest:
                yield b"".join(pieces)
                pieces, size = [piece], len(piece)
        if last := b"".join(pieces):
            yield last

    async def send(self, data: bytes) -> None:
        """Write to standard input.

        Raises:
            anyio.BrokenResourceError: the process no longer reads.
        """
        try:
            await self._stdin.send(data)
        except (OSError, anyio.ClosedResourceError) as error:
            raise anyio.BrokenResourceError from error

    async def drain_stderr(self) -> None:
        """Keep standard error's tail until it is closed; a full pipe would stop the server."""
        try:
            while True:
                self.stderr.add(await self._stderr.receive(_CHUNK))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            self._stderr_ended.set()

    async def wait(self) -> int:
        """Wait for the process to exit, and return its status."""
        return await self._process.wait()

    async def settle(self, seconds: float) -> None:
        """After the output ended: give the process a moment to exit, and its last words on stderr one to arrive."""
        with anyio.move_on_after(seconds):
            await self.wait()
            await self._stderr_ended.wait()

    async def stop(self, *, patience: float) -> bool:
        """End the process and its group, within about `patience` seconds; cancellation does not interrupt it.

        Closing standard input asks it to leave, SIGTERM asks the group, SIGKILL does not ask. Returns whether the
        process left by itself when asked by the closed input.
        """
        if self._stopped:
            return True
        self._stopped = True
        left = True
        with anyio.CancelScope(shield=True):
            with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._stdin.aclose()
            left = await self._gone_within(patience / 2)
            if not left:
                self._signal_group(signal.SIGTERM)
                await self._gone_within(patience / 4)
            await self._end_group()
            if self._process.returncode is None:
                await self._gone_within(max(patience / 4, _REAP))
            await self._close_pipes()
        return left

    async def _gone_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self._process.returncode is not None

    async def _end_group(self) -> None:
        """End what the process left behind in its group (npx leaves node), and itself if it is still there."""
        if sys.platform == "win32":
            if self._process.returncode is None:
                self._process.kill()
            return
        if self._process.returncode is not None:
            if not self._signal_group(signal.SIGTERM):
                # Nobody is left, and the number is free for others.
                return
            await self._group_gone_within(_GROUP_GRACE)
        if self._signal_group(signal.SIGKILL):
            # Dying takes a moment, and whoever looks afterwards should find nobody.
            await self._group_gone_within(_GROUP_GRACE)

    async def _group_gone_within(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while self._signal_group(0):
                await anyio.sleep(_POLL)

    def _signal_group(self, number: int) -> bool:
        """Signal the whole group; whether there was anyone to signal."""
        if sys.platform == "win32":
            if number and self._process.returncode is None:
                self._process.terminate()
            return False
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            # macOS answers EPERM for a group of zombies.
            return False
        return True

    async def _close_pipes(self) -> None:
        # A child that left the group may hold the pipes open for ever: close our ends, whatever it does.
        for stream in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.aclose()
        # asyncio keeps its transport open, and warns, while such a child lives; nothing public closes it.
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            with contextlib.suppress(PermissionError, ProcessLookupError):
                transport.close()

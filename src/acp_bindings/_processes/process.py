"""Child processes: started with pipes, and stopped with all their children."""

from __future__ import annotations

import codecs
import contextlib
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from acp_bindings._processes.forward import LineForwarder


def how_it_ended(status: int) -> str:
    """Return how a process ended: `exited with status 1`, `was ended by SIGKILL`."""
    return f"was ended by {signal_name(status)}" if status < 0 else f"exited with status {status}"


_NODE_ERROR = re.compile(r"\[?\w*Error\b")


def last_words(lines: Sequence[str]) -> str:
    """Return the last line of standard error that is not empty; if Node.js has ended with an error, the error."""
    said = [line for line in lines if line.strip()]
    if said and said[-1].startswith("Node.js v"):
        # Before its version, it writes the source line, the error, the stack trace, and the fields of the error.
        outer = [line for line in said[:-1] if not line[0].isspace() and line != "}"]
        said = [line for line in outer if _NODE_ERROR.match(line)] or outer or said
    return said[-1].strip() if said else ""


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def uncoloured(text: str) -> str:
    """Return the text without colours, links and titles of a terminal, which would hide secrets and known errors."""
    return _ESCAPES.sub("", text)


def signal_name(status: int) -> str:
    """Return the name of the signal of a negative status, if this system has one for it."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


async def to_the_end(work: Callable[[], Awaitable[None]]) -> None:
    """Run *work* in a separate task, and wait for it.

    A shield alone is not enough, because asyncio's own `Task.cancel` ignores it.

    Raises:
        ExceptionGroup: *work* raised an exception.
    """

    async def shielded() -> None:
        with anyio.CancelScope(shield=True):
            await work()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shielded)


_BEGUN = 65536
"""Bytes that are shown of an incomplete line."""


class LineBuffer:
    """Splits a stream into lines: call `feed`, and `rest` at the end."""

    def __init__(self, *, limit: int) -> None:
        """Create an empty buffer.

        Args:
            limit: the maximum size of a line in bytes. After a longer one, no more lines are returned.
        """
        self.limit = limit
        self.overflowed = False
        """True if a line was longer than the limit."""
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that *chunk* completes, without their newlines."""
        if self.overflowed:
            return []
        fits = len(self._rest) + len(chunk) <= self.limit
        *lines, last = chunk.split(b"\n")
        if lines and self._rest:
            self._rest += lines[0]
            lines[0] = bytes(self._rest)
            self._rest.clear()
        self._rest += last
        if fits:
            return lines
        too_long = next((index for index, line in enumerate(lines) if len(line) > self.limit), None)
        if too_long is not None or len(self._rest) > self.limit:
            self.overflowed = True
            self._rest.clear()
            return lines[:too_long]
        return lines

    @property
    def begun(self) -> bytes:
        """The beginning of the incomplete line."""
        return bytes(self._rest[:_BEGUN])

    def rest(self) -> bytes:
        """Remove and return the bytes after the last newline."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest


if sys.platform == "win32":
    from anyio.abc import ByteReceiveStream as Output
    from anyio.abc import ByteSendStream as Input
    from anyio.abc import Process as Child

    from acp_bindings._processes.windows import ProcessTree, start
else:
    from acp_bindings._processes.pipes import Reader as Output
    from acp_bindings._processes.pipes import Writer as Input
    from acp_bindings._processes.posix import Child, ProcessTree, start

_CHUNK = 65536
_POLL = 0.01
"""Seconds between checks whether a process group is empty, which the system does not report."""
_HEARD = 0.5
"""Seconds between checks whether the input of a process that has exited is still read."""
_REAP = 1.0
"""Seconds for the event loop to notice the end of a killed process."""
_TREE_GRACE = 0.2
"""Seconds for the children of a process that has exited to end after SIGTERM, and again after SIGKILL."""


_CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that do not begin a character."""


class Tail:
    """The last bytes of a stream."""

    def __init__(self, limit: int = 16384) -> None:
        self._limit = limit
        self._data = bytearray()
        self._is_cut = False

    def add(self, chunk: bytes) -> None:
        """Append *chunk*, and drop the oldest bytes."""
        self._data += chunk
        if len(self._data) > self._limit:
            self._is_cut = True
            del self._data[: len(self._data) - self._limit]

    def text(self, *, complete: bool = True) -> tuple[str, bool]:
        """Return the text, and True if its beginning is missing.

        It begins with a whole character and has at most as many bytes as the limit. Unless it is *complete*, it ends
        with a whole character too.
        """
        data = self._data.lstrip(_CONTINUATION) if self._is_cut else self._data
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, complete)
        # A byte that is not UTF-8 becomes a character of three.
        if (excess := len(encoded := text.encode()) - self._limit) > 0:
            return encoded[excess:].lstrip(_CONTINUATION).decode(), True
        return text, self._is_cut

    def lines(self) -> list[str]:
        """Return the complete lines. A first line that is cut is left out: it may contain part of a secret."""
        text, is_truncated = self.text()
        lines = text.splitlines()
        if not is_truncated:
            return lines
        return lines[1:] or [f"[a line of more than {self._limit} bytes]"]


class ChildProcess:
    """A running child process. It must be stopped with `stop`."""

    def __init__(self, process: Child, stdin: Input, stdout: Output, stderr: Output) -> None:
        self._process = process
        self._tree = ProcessTree(process.pid)
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self.stderr = Tail()
        self._lines: deque[bytes] = deque()
        self._buffer = LineBuffer(limit=0)
        self._stdout_ended = False
        self._stderr_ended = anyio.Event()
        self._stopped = False

    @classmethod
    async def start(
        cls, command: Sequence[str], *, cwd: str, env: Mapping[str, str], without_input: bool = False
    ) -> ChildProcess:
        """Start the command in a new process tree.

        *without_input*, its standard input is empty, and its standard error is part of its standard output; on Windows,
        the two stay separate.

        Raises:
            OSError: it could not be started.
        """
        # Shielded: a cancellation between fork and return would leave an unknown process running.
        with anyio.CancelScope(shield=True):
            return cls(*await start(command, cwd=cwd, env=env, without_input=without_input))
        raise AssertionError("the scope is never cancelled")

    @classmethod
    def adopt(cls, process: subprocess.Popen[bytes], *, stdin: int, stdout: int, stderr: int) -> ChildProcess:
        """Take over a process that was started elsewhere as the leader of a process group.

        Our ends of its pipes must not block, and will be closed here.
        """
        if sys.platform != "win32":
            return cls(Child(process), Input(stdin), Output(stdout), Output(stderr))
        raise NotImplementedError("pipes of Windows cannot be waited for like that")

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its process group."""
        return self._process.pid

    @property
    def has_read_input(self) -> bool:
        """True if the process has read from its input, or that is unknown: on Windows, and after its exit on macOS."""
        return sys.platform == "win32" or self._stdin.was_read()

    @property
    def is_heard(self) -> bool:
        """True if a process can read the input, and on Windows, which does not report it."""
        return sys.platform == "win32" or self._stdin.has_reader()

    @property
    def has_output(self) -> bool:
        """True if its standard output has not been read to the end; False on Windows, which does not report it."""
        return sys.platform != "win32" and self._stdout.has_data()

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs."""
        return self._process.returncode

    @property
    def overflowed(self) -> bool:
        """True if the process wrote a line that is too long."""
        return self._buffer.overflowed

    @property
    def unfinished(self) -> bytes:
        """The beginning of an incomplete line."""
        return self._buffer.begun

    async def receive(self, max_bytes: int = _CHUNK, /) -> bytes:
        """Return the next chunk of standard output. Do not mix this with `receive_line`.

        Raises:
            anyio.EndOfStream: standard output is closed.
            anyio.ClosedResourceError: it was closed here.
        """
        return await self._stdout.receive(max_bytes)

    async def receive_line(self, *, longest: int) -> bytes | None:
        """Return the next line of standard output without its newline; None at the end, or if a line is too long.

        A cancellation loses nothing.
        """
        self._buffer.limit = longest
        if self._lines:
            # Other tasks begin to handle the last line first, such as a notification before a response.
            await anyio.lowlevel.checkpoint()
        while not self._lines:
            if self._stdout_ended:
                return None
            try:
                chunk = await self._stdout.receive(_CHUNK)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._stdout_ended = True
                return self._buffer.rest() or None
            self._lines.extend(self._buffer.feed(chunk))
            self._stdout_ended = self._buffer.overflowed
        return self._lines.popleft()

    async def send(self, data: bytes, /) -> None:
        """Write to standard input.

        Raises:
            anyio.BrokenResourceError: the process no longer reads.
        """
        try:
            await self._stdin.send(data)
        except (OSError, anyio.ClosedResourceError) as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Do nothing: `stop` closes the pipes."""

    async def close_input(self) -> None:
        """Close standard input, which asks the process to exit."""
        await _close(self._stdin)

    @property
    def has_children(self) -> bool:
        """True if a process of its tree runs, apart from itself."""
        return self._process.returncode is not None and self._tree.lives()

    @property
    def send_at_once(self) -> Callable[[bytes], int] | None:
        """Write what is possible without waiting, and return the number of bytes; None if this is not supported."""
        return getattr(self._stdin, "send_at_once", None)

    async def drain_stderr(self, *, tell: Callable[[bytes], None] | None = None) -> None:
        """Read standard error until it is closed, because a full pipe would block the process, and keep its end.

        Args:
            tell: called with each chunk.
        """

        def keep(chunk: bytes) -> None:
            self.stderr.add(chunk)
            if tell:
                tell(chunk)

        try:
            await _drain(self._stderr, keep)
        finally:
            self._stderr_ended.set()

    async def read_output(self, keep: Callable[[bytes], None]) -> None:
        """Call *keep* with each chunk of standard output and standard error, until both are closed."""
        async with anyio.create_task_group() as readers:
            readers.start_soon(_drain, self._stdout, keep)
            readers.start_soon(partial(self.drain_stderr, tell=keep))

    async def hang_up(self) -> None:
        """Close our end of its standard output. A task that waits for a line gets None."""
        await self._stdout.aclose()

    async def wait(self) -> int:
        """Wait for the process to exit, and return its status."""
        return await self._process.wait()

    async def wait_lost(self) -> None:
        """Wait until the process can no longer respond, even if a child keeps its output open.

        A process that exits with 0 may have left its streams to that child. Then this waits until nobody can read its
        input any more. One that fails has not.
        """
        if await self.wait() == 0:
            # To begin with, a child has all that its parent had open. It may close the input later.
            while self.is_heard:
                await anyio.sleep(_HEARD)

    async def settle(self, seconds: float) -> None:
        """After the end of the output, wait up to *seconds* for the exit and the end of standard error."""
        with anyio.move_on_after(seconds):
            await self.wait()
            await self._stderr_ended.wait()

    async def stop(self, *, patience: float) -> bool:
        """Stop the process and its tree within about `patience` seconds. Cancellation does not interrupt this.

        First its standard input is closed, then the tree gets SIGTERM, then SIGKILL. Its output is read meanwhile, so
        that it does not hang in a write.

        Returns:
            True if the process exited after its input was closed, or was stopped before.
        """
        if self._stopped:
            return True
        self._stopped = True
        has_exited = True

        async def end() -> None:
            nonlocal has_exited
            try:
                async with anyio.create_task_group() as drain:
                    drain.start_soon(_drain, self._stdout, len)
                    try:
                        has_exited = await self._ask_to_exit(patience)
                    finally:
                        # Also after an error in `_drain`, which cancels this wait.
                        with anyio.CancelScope(shield=True):
                            await self._end_tree()
                    if self._process.returncode is None:
                        await self._gone_within(max(patience / 4, _REAP))
                    drain.cancel_scope.cancel()
            finally:
                await self._close_handles()

        await to_the_end(end)
        return has_exited

    async def _ask_to_exit(self, patience: float) -> bool:
        """Ask the process to exit, then its tree. Return True if the first was enough."""
        await _close(self._stdin)
        if await self._gone_within(patience / 2):
            return True
        self._tree.ask()
        await self._gone_within(patience / 4)
        return False

    async def _close_handles(self) -> None:
        """Close our ends of the pipes. A process that has left the tree may keep the other ends open."""
        self._tree.close()
        for stream in (self._stdout, self._stderr):
            await _close(stream)
        if self._process.returncode is not None:
            await self._process.aclose()

    async def _gone_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self._process.returncode is not None

    async def _end_tree(self) -> None:
        """End the remaining processes of the tree (npx leaves node), and the process if it still runs."""
        if self._process.returncode is not None:
            if not self._tree.ask():
                # The group is empty, and its number may be reused.
                return
            await self._tree_gone_within(_TREE_GRACE)
        if self._tree.kill():
            # Killed processes exist for another moment, and callers expect that they are gone.
            await self._tree_gone_within(_TREE_GRACE)
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def _tree_gone_within(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            # Until its status is read, a dead process still counts as one of its group.
            while self._process.returncode is None or self._tree.lives():
                await anyio.sleep(_POLL)


async def _drain(output: Output, keep: Callable[[bytes], object]) -> None:
    with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            keep(await output.receive(_CHUNK))


async def _close(stream: Input | Output) -> None:
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await stream.aclose()


@asynccontextmanager
async def attended(
    process: ChildProcess, *, watch: Callable[[], Coroutine[Any, Any, object]], lines: LineForwarder | None
) -> AsyncGenerator[TaskGroup]:
    """Run `watch`, and forward standard error to `lines`, while the block uses and stops a process.

    Yields:
        The task group of the block.
    """
    # Shielded: the process may still write while it ends, also after a cancellation.
    beside = anyio.CancelScope(shield=True)

    async def attend() -> None:
        with beside:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                if lines:
                    tasks.start_soon(lines.run)
                await process.drain_stderr(tell=lines.feed if lines else None)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(attend)
        try:
            yield tasks
        finally:
            beside.cancel()

"""Forwards the standard streams of a child without changing a byte, and sends copies of them to a recorder.

It imports only the standard library, so that the child starts at once. Three threads forward, one for each stream. They
never wait for the recorder: a fourth thread sends the copies, and copies that do not fit in memory are dropped.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import IO, BinaryIO, NamedTuple

CHUNK = 1 << 16
MOST = 64 << 20
"""Bytes of copies that wait for the recorder. Further ones are dropped."""
QUIET = 0.5
"""Seconds without output after which that of a child that has exited is over, even if another process holds it."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit statuses of a shell for a command that cannot be started."""

HEADER = struct.Struct("<cdI")


class Frame(NamedTuple):
    """A copy, as the recorder receives it."""

    kind: bytes
    """`c`, `a` or `e` for bytes of the client, the agent, or standard error; the same in upper case if some before it
    were dropped. Other letters are messages between both processes."""
    time: float
    """Seconds since the epoch."""
    data: bytes
    """The bytes, which are empty at the end of the stream; for an upper-case letter the number of dropped bytes."""


def frames_of(source: BinaryIO) -> Iterator[Frame]:
    """Yield the frames of a pipe or socket until its end."""
    while len(header := source.read(HEADER.size)) == HEADER.size:
        kind, moment, size = HEADER.unpack(header)
        data = source.read(size)
        if len(data) < size:
            return
        yield Frame(kind, moment, data)


def framed(kind: bytes, data: bytes) -> bytes:
    """Return the bytes of a frame with the current time."""
    return HEADER.pack(kind, time.time(), len(data)) + data


class Copies:
    """Sends copies to a recorder, without delaying those who add them."""

    def __init__(self, send: Callable[[bytes], object], *, lost: Callable[[], object], most: int = MOST) -> None:
        """Start sending.

        Args:
            send: called with bytes, from a thread; `OSError` means that the recorder has ended.
            lost: called when the recorder has ended.
            most: bytes that may wait.
        """
        self._send = send
        self._lost = lost
        self._most = most
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._counting = threading.Lock()
        self._waiting = 0
        self._dropped: dict[bytes, int] = {}
        self.ended = False
        """True if the recorder has ended."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, kind: bytes, data: bytes) -> None:
        """Add a copy, or drop it if too much is waiting. This never waits."""
        if self.ended:
            return
        with self._counting:
            if self._waiting + len(data) > self._most:
                self._dropped[kind] = self._dropped.get(kind, 0) + len(data)
                return
            self._waiting += len(data)
            dropped = self._dropped.pop(kind, 0)
        if dropped:
            self._queue.put(framed(kind.upper(), b"%d" % dropped))
        self._queue.put(framed(kind, data))

    def finish(self, *, seconds: float) -> None:
        """Send the rest. Stop if the recorder has read nothing for this many seconds."""
        for kind, dropped in self._dropped.items():
            self._queue.put(framed(kind.upper(), b"%d" % dropped))
        self._queue.put(None)
        before: int | None = None
        while self._thread.is_alive() and before != self._waiting:
            before = self._waiting
            self._thread.join(seconds)

    def _run(self) -> None:
        more = True
        while more:
            # Many at once, because each write wakes the recorder; not all, so that `finish` sees progress.
            parts = [self._queue.get()]
            with contextlib.suppress(Empty):
                while parts[-1] is not None and len(parts) < 100:
                    parts.append(self._queue.get_nowait())
            more = parts[-1] is not None
            data = b"".join(part for part in parts if part is not None)
            try:
                self._send(data)
            except OSError:
                self.ended = True
                self._lost()
                return
            with self._counting:
                self._waiting -= len(data) - HEADER.size * (len(parts) - (not more))


class CannotForward(Exception):  # noqa: N818 - says what happened
    """The command cannot be started. The message says why."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status
        """The exit status that a shell would have."""


def start(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a command in this process group, so that a signal to the group reaches it as if it were started directly.

    Raises:
        CannotForward: it cannot be started.
    """
    # Windows would not find a .cmd file, such as npx.
    program = shutil.which(command[0], path=(env or os.environ).get("PATH")) or command[0]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen([program, *command[1:]], env=env, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
    except FileNotFoundError:
        raise CannotForward(f"{command[0]}: command not found", status=NOT_FOUND) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CannotForward(f"{command[0]}: {reason}", status=NOT_EXECUTABLE) from None


def python_of(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `main` of a module with the same module path as here."""
    # A zipapp only changes its own path. `-c` would begin with the current directory, whose project is being edited.
    code = f"import sys; sys.path[:] = {list(map(str, sys.path))}; from {module} import main; main()"
    return [sys.executable, "-c", code, *arguments]


class Streams(NamedTuple):
    """What happens with the chunks of each stream on their way.

    Each function returns what to forward. At the end of the stream it gets no bytes, and returns the rest.
    """

    client: Callable[[bytes], bytes]
    agent: Callable[[bytes], bytes]
    stderr: Callable[[bytes], bytes]


def copying(copies: Copies) -> Streams:
    """Return the streams of a conversation that is only copied."""

    # The copy is made first, so that a request is recorded before its response.
    def copied(kind: bytes, chunk: bytes) -> bytes:
        copies.add(kind, chunk)
        return chunk

    return Streams(partial(copied, b"c"), partial(copied, b"a"), partial(copied, b"e"))


def forward(child: subprocess.Popen[bytes], streams: Streams) -> int:
    """Forward between the standard streams of this process and *child* until it exits; return its exit status."""
    # Standard input may stay open after the child has exited; then its thread is left behind.
    _Pump(0, descriptor_of(child.stdin), streams.client).start()
    outputs = [
        _Pump(descriptor_of(child.stdout), 1, streams.agent),
        _Pump(descriptor_of(child.stderr), 2, streams.stderr),
    ]
    for each in outputs:
        each.start()
    status = child.wait()
    for each in outputs:
        each.finish()
    return status


def descriptor_of(stream: IO[bytes] | None) -> int:
    """Return the descriptor of a pipe of a child."""
    return -1 if stream is None else stream.fileno()


class _Pump(threading.Thread):
    """Forwards one stream until one of its sides ends, and then ends the other."""

    def __init__(self, source: int, sink: int, passing: Callable[[bytes], bytes]) -> None:
        super().__init__(daemon=True)
        self._source, self._sink, self._passing = source, sink, passing
        self._received = 0
        self._written = 0

    def run(self) -> None:
        # An error means that the reader has gone. The writer notices that when its pipe is closed.
        with contextlib.suppress(OSError):
            while chunk := _read(self._source):
                self._received += 1
                write_all(self._sink, self._passing(chunk))
                self._written += 1
            write_all(self._sink, self._passing(b""))
        for each in (self._source, self._sink):
            _end(each)

    def finish(self) -> None:
        """Wait for the end of the stream, or until nothing has come for a while and everything is written."""
        before = -1
        while self.is_alive() and not before == self._received == self._written:
            before = self._received
            self.join(QUIET)


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            # What started this process may have made its streams non-blocking.
            select.select([descriptor], [], [])


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of *data*, also to a descriptor that does not block."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


def _end(descriptor: int) -> None:
    """Close a descriptor, but keep the number of a standard stream in use. Standard error stays open for messages."""
    if descriptor == 2:
        return
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


_FORWARDED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGBREAK")


@contextmanager
def signals_kept() -> Generator[Callable[[subprocess.Popen[bytes]], None]]:
    """Keep signals from ending this process in the block, and yield the function that sends them to a child.

    Call this in the main thread. The child also gets earlier signals.
    """
    received: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def handle(number: int, _frame: object) -> None:
        if child is None:
            received.append(number)
        elif child.poll() is not None:
            raise SystemExit(128 + number)
        elif not _is_sent_to_all(number):
            child.send_signal(number)

    def forward_to(started: subprocess.Popen[bytes]) -> None:
        nonlocal child
        child = started
        for number in received:
            is_windows = sys.platform == "win32"  # which can only end a process
            child.send_signal(signal.SIGTERM if is_windows else number)

    numbers = [number for name in _FORWARDED if (number := getattr(signal, name, None)) is not None]
    # A signal that is ignored, as under `nohup`, is ignored by the child as well.
    before = {number: old for number in numbers if (old := signal.getsignal(number)) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handle)
    try:
        yield forward_to
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _is_sent_to_all(number: int) -> bool:
    """Return True if a terminal has sent this signal to all its processes, and so to the child."""
    if sys.platform == "win32":
        return number != signal.SIGTERM
    if number != signal.SIGINT:
        return False
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False

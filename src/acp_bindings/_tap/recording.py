"""The second process of `acp-bindings tap`, which records, checks and shows what the first one forwards.

With receipts, it also runs the relays of MCP servers, and replaces the servers in requests by them. It runs on its own,
so that its work does not delay the conversation, and its failures do not end it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from errno import EEXIST
from typing import Any, BinaryIO

from acp_bindings._secrets import argument_secrets, environment_secrets
from acp_bindings._standard_streams import printable, without_ci_commands
from acp_bindings._tap.forwarding import Frame, framed, frames_of, python_of, write_all
from acp_bindings.recordings import Recorder
from acp_bindings.setup.capabilities import Side

LONGEST_MESSAGE = 64 << 20
"""Bytes of a line. Of a longer one, only the length is recorded."""
NICE = 5
"""Lowers the priority of this process, so that it does not slow down client and agent."""


def main() -> None:
    """Read frames from standard input until the end."""
    # A Ctrl-C is for the agent. This process ends when its input does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, signal.SIG_IGN)
    else:
        os.nice(NICE)
    options: dict[str, Any] = json.loads(sys.argv[1])
    with contextlib.ExitStack() as ending:
        recording = Recording(
            options["file"],
            in_new_folder=options["in_new_folder"],
            secrets=options["secrets"],
            check=options["check"],
        )
        ending.callback(recording.finish)
        if options["view"] and recording.is_open:
            ending.callback(_viewer(options["file"]).terminate)
        if options["receipts"]:
            recording.relays = Relays(recording.receipt, recording.notify)
            ending.callback(recording.relays.close)
        for frame in frames_of(sys.stdin.buffer):
            recording.take(frame)
        recording.end_agent()


class Recording:
    """Writes frames to a recording until that fails, and checks them."""

    def __init__(self, path: str, *, in_new_folder: bool = False, secrets: bool, check: bool) -> None:
        self._path = path
        self._line = io.BytesIO()
        """The last line of the recording."""
        self._recorder = Recorder(self._line, secrets=None if secrets else environment_secrets(os.environ))
        self._file: BinaryIO | None = None
        self._lines = {kind: Lines() for kind in b"cae"}
        self._agent: int | None = None
        self._writing = threading.Lock()
        self.relays: Relays | None = None
        """The relays, in place of the MCP servers."""
        self._check = _live_check() if check else None
        with self._giving_up("nothing is recorded"):
            self._file = open_new(path, in_new_folder=in_new_folder)

    @property
    def is_open(self) -> bool:
        """True while the file can be written."""
        return self._file is not None

    def take(self, frame: Frame) -> None:
        """Record a frame."""
        match frame.kind:
            case b"c" | b"a" | b"e":
                lines = self._lines[frame.kind[0]]
                for line in lines.feed(frame.data) if frame.data else lines.rest():
                    self._record(frame.kind, line, frame.time)
                if frame.kind == b"c" and not frame.data and self._agent is not None:
                    self.event("closed", {"from": "client"}, time=frame.time)
            case b"C" | b"A" | b"E":
                self._lines[frame.kind.lower()[0]].skip(int(frame.data))
            case b"s":
                about = json.loads(frame.data)
                self._agent = about["pid"]
                self._recorder.hide(argument_secrets(about["command"]))
            case b"r":
                self._reply(frame.data)
            case b"x":
                self._agent = None
                if self.relays:
                    self.relays.close()
                self._finish_lines(frame.time)
                self.event("end", {"exitStatus": int(frame.data)}, time=frame.time)
            case _:
                pass

    def event(self, name: str, about: Mapping[str, Any], *, time: float | None = None) -> None:
        """Record an event. This may be called from any thread."""
        self._write(lambda: self._recorder.event(name, about, time=time))

    def receipt(self, about: Mapping[str, Any]) -> None:
        """Record what an agent did with an MCP server. This may be called from any thread."""
        self.event("receipt", about)
        why = f" ({about['code']}): {about['message']}" if about["event"] == "failed" else ""
        tell(f"acp-bindings tap: {about['server']}: {about['event']}{why}")

    def _reply(self, request: bytes) -> None:
        number, _, line = request.partition(b" ")
        try:
            changed = self.relays.replaced(line) if self.relays else line
        except Exception as error:  # noqa: BLE001 - the session must start
            tell(f"acp-bindings tap: no receipts for this session, because of {type(error).__name__}: {error}")
            changed = line
        self._send(b"r", b"%b %b" % (number, changed))

    def notify(self, line: bytes) -> None:
        """Send a line to the client, after what the agent has sent so far. This may be called from any thread."""
        self._send(b"n", line)

    def _send(self, kind: bytes, line: bytes) -> None:
        with self._writing, contextlib.suppress(OSError):
            write_all(1, framed(kind, line))

    def end_agent(self) -> None:
        """Kill the agent if the tap was killed, as it would have been without the tap."""
        if self._agent is not None:
            with contextlib.suppress(OSError):
                os.kill(self._agent, getattr(signal, "SIGKILL", signal.SIGTERM))
            self._finish_lines(None)

    def finish(self) -> None:
        """Report what is only known at the end."""
        if check := self._check:
            self._check = None
            self._report(check.finish())
        if self._file:
            self._file.close()

    def _finish_lines(self, time: float | None) -> None:
        for kind, lines in self._lines.items():
            for line in lines.rest():
                self._record(bytes([kind]), line, time)

    def _record(self, kind: bytes, line: bytes | int, time: float | None) -> None:
        sender: Side = "client" if kind == b"c" else "agent"
        if kind != b"e" and self.relays and not isinstance(line, int):
            self.relays.hear(sender, line)
        if isinstance(line, int):
            self.event("dropped", {"from": sender, "bytes": line}, time=time)
        elif kind == b"e":
            self._write(lambda: self._recorder.stderr(line, time=time))
        else:
            self._write(lambda: self._recorder.message(sender, line, time=time))

    def _write(self, write: Callable[[], None]) -> None:
        with self._writing:
            self._line.seek(0)
            self._line.truncate()
            write()
            line = self._line.getvalue()
            with self._giving_up("the recording ends here"):
                if self._file and line:
                    self._file.write(line)
            found = self._check.feed(line) if self._check and line else ()
        self._report(found)

    def _report(self, findings: Sequence[Any]) -> None:
        for each in findings:
            # Without a file, there are no lines to refer to.
            tell(f"{self._path}:{each}" if self._file else f"acp-bindings tap:{replace(each, line=None)}")
            about = {
                "line": each.line,
                "rule": each.rule,
                "severity": each.severity,
                "message": each.message,
                "path": list(each.path),
            }
            self.event("finding", about)

    @contextlib.contextmanager
    def _giving_up(self, what: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            self._file = None
            tell(f"acp-bindings tap: {self._path}: {error.strerror}; {what}, the conversation goes on")


class Relays:
    """The relays of `mcp_launch`, which run in a thread of their own."""

    def __init__(self, tell: Callable[[Mapping[str, Any]], object], notify: Callable[[bytes], object]) -> None:
        from anyio.from_thread import start_blocking_portal  # noqa: PLC0415 - only for receipts

        from mcp_launch._receipts.session_requests import receipts  # noqa: PLC0415 - not imported without the extra

        self._running = contextlib.ExitStack()
        self._portal = self._running.enter_context(start_blocking_portal())
        self._receipts = self._running.enter_context(self._portal.wrap_async_context_manager(receipts(tell, notify)))

    def replaced(self, line: bytes) -> bytes:
        """Return a line of the client with relays in place of the MCP servers."""
        return self._portal.call(self._receipts.replaced, line)

    def hear(self, sender: Side, line: bytes) -> None:
        """Note what client and agent advertise, and which sessions are open."""
        if self._receipts.concerns(line):
            self._portal.call(self._receipts.hear, sender, line)

    def close(self) -> None:
        """End the relays."""
        self._running.close()


class Lines:
    """Splits a stream into lines. Instead of what is missing it returns the number of bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._skipped = 0
        """The bytes of a line that was dropped so far."""

    def feed(self, chunk: bytes) -> Iterator[bytes | int]:
        """Yield the lines that *chunk* completes, and numbers of dropped bytes."""
        *ended, begun = chunk.split(b"\n")
        for line in ended:
            if self._skipped:
                yield self._skipped + len(line) + 1
                self._skipped = 0
            else:
                yield bytes(self._rest) + line if self._rest else line
                self._rest.clear()
        if self._skipped:
            self._skipped += len(begun)
        else:
            self._rest += begun
            if len(self._rest) > LONGEST_MESSAGE:
                self.skip(0)

    def skip(self, size: int) -> None:
        """Drop the rest of the current line, which misses this number of bytes."""
        self._skipped += size + len(self._rest)
        self._rest.clear()

    def rest(self) -> Iterator[bytes | int]:
        """Yield the last line if it has no newline."""
        if self._skipped or self._rest:
            yield self._skipped or bytes(self._rest)
        self._skipped = 0
        self._rest.clear()


def open_new(path: str, *, in_new_folder: bool = False) -> BinaryIO:
    """Open a new file that only this user can read. A recording is replaced, because others may still read it.

    Args:
        path: the file.
        in_new_folder: True to make its directory.

    Raises:
        OSError: it cannot be opened, or it is another file that a mistake in the command line would destroy.
    """
    if os.path.isfile(path):
        with open(path, "rb") as file:
            begin = file.read(100)
        if begin and not _BEGIN.match(begin):
            raise FileExistsError(EEXIST, "this file is not a recording and is not replaced")
        # Windows keeps a file that is open elsewhere. It is truncated.
        with contextlib.suppress(PermissionError):
            os.unlink(path)
    if in_new_folder:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    return open(os.open(path, flags, 0o600), "wb", buffering=0)


_BEGIN = re.compile(rb'\{\s*"time"\s*:')
"""The beginning of a recording, also if its first line is not complete."""


def tell(line: str) -> None:
    """Write a line to standard error, which is that of the conversation. It may quote what a peer has sent."""
    with contextlib.suppress(OSError):
        write_all(2, f"{without_ci_commands(printable(line))}\n".encode(errors="replace"))


def _live_check() -> Any:
    from acp_bindings.check import LiveCheck  # noqa: PLC0415 - reads the types of the protocol

    return LiveCheck()


def _viewer(path: str) -> subprocess.Popen[bytes]:
    command = python_of("acp_bindings.__main__", "view", "--serve", "--open", "--until-eof", path)
    # It prints its address, which must not become part of the conversation. Its input ends with this process.
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2)

"""The streams of a conversation with receipts: the recording process changes some lines, and adds notices."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from queue import Empty, SimpleQueue
from typing import BinaryIO

from acp_bindings._tap.forwarding import Copies, Streams, copying, frames_of, write_all

REPLY = 15.0
"""Seconds for the recording process to provide relays. It imports the launcher first."""


def replacing(copies: Copies, replies: BinaryIO, *, tell: Callable[[str], None]) -> Streams:
    """Return the streams of a conversation in which relays replace the MCP servers of the client.

    Args:
        copies: for the recording process.
        replies: what it writes.
        tell: called with a message if it does not respond.
    """
    client, agent, stderr = copying(copies)
    changed: SimpleQueue[bytes | None] = SimpleQueue()
    """Replies, and None after the last one."""
    numbers = count()
    output = _Output(agent)

    def ask(line: bytes) -> bytes:
        asked = b"%d" % next(numbers)
        copies.add(b"r", b"%b %b" % (asked, line))
        try:
            while (reply := changed.get(timeout=REPLY)) is not None:
                # A reply that comes too late is for an earlier line.
                number, _, changed_line = reply.partition(b" ")
                if number == asked:
                    return changed_line
            changed.put(None)
        except Empty:
            pass
        tell("no receipts for this session, because the recording process does not respond")
        return line

    def read() -> None:
        for frame in frames_of(replies):
            if frame.kind == b"r":
                changed.put(frame.data)
            else:
                output.insert(frame.data + b"\n")
        changed.put(None)

    threading.Thread(target=read, daemon=True).start()
    return Streams(_Input(client, ask), output, stderr)


class _Input:
    """The stream of the client. Whole lines are forwarded, because the last one may be about servers."""

    def __init__(self, copied: Callable[[bytes], bytes], ask: Callable[[bytes], bytes]) -> None:
        self._copied = copied
        self._ask = ask
        self._begun: list[bytes] = []

    def __call__(self, chunk: bytes) -> bytes:
        self._begun.append(self._copied(chunk))
        if chunk and b"\n" not in chunk:
            return b""
        *lines, rest = b"".join(self._begun).split(b"\n")
        self._begun = [rest] if chunk else []
        changed = b"".join(self._changed(line) + b"\n" for line in lines)
        return changed if chunk else changed + self._changed(rest)

    def _changed(self, line: bytes) -> bytes:
        return self._ask(line) if b'"mcpServers"' in line else line


class _Output:
    """The stream of the agent, in which lines can be inserted."""

    def __init__(self, copied: Callable[[bytes], bytes]) -> None:
        self._copied = copied
        self._writing = threading.Lock()
        self._is_in_line = False
        self._waiting = b""

    def __call__(self, chunk: bytes) -> bytes:
        # Written here and not by the caller: when the recording process has got the copy of a response, a line that it
        # inserts comes after that response.
        with self._writing:
            copy = self._copied(chunk)
            head, newline, rest = copy.rpartition(b"\n")
            if newline:
                copy, self._waiting = head + newline + self._waiting + rest, b""
            if chunk:
                self._is_in_line = bool(rest)
            write_all(1, copy)
        return b""

    def insert(self, line: bytes) -> None:
        """Write a line after the current one."""
        with self._writing:
            if self._is_in_line:
                self._waiting += line
            else:
                write_all(1, line)

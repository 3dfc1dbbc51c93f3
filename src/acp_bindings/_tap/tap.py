"""The first process of `acp-bindings tap`, which starts the agent and forwards the conversation."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, cast

from acp_bindings._tap.forwarding import (
    CannotForward,
    Copies,
    copying,
    forward,
    frames_of,
    signals_kept,
    start,
    write_all,
)

REPLY = 15.0
"""Seconds for the recording process to provide relays. It imports the launcher first."""
LAST_COPIES = 10.0
"""Seconds for the recording to be completed after the agent has exited."""


def tap(command: Sequence[str], *, output: str | None, check: bool, view: bool, receipts: bool, secrets: bool) -> int:
    """Run an agent, record its conversation, and return its exit status, or 128 and the number of its signal."""
    if receipts and (missing := _what_is_missing()):
        _tell(missing)
        return 2
    path = _path_of(output, command[0])
    if output is None:
        _tell(f"acp-bindings tap: recording to {path}")
    options = {"file": path, "check": check, "view": view, "receipts": receipts, "secrets": secrets}
    with signals_kept() as forward_signals_to, _observer(options) as (copies, ask):
        try:
            agent = start(command)
        except CannotForward as error:
            _tell(f"acp-bindings tap: {error}")
            status = error.status
        else:
            forward_signals_to(agent)
            copies.add(b"s", json.dumps({"pid": agent.pid, "command": list(command)}).encode())
            streams = copying(copies)
            if receipts:
                streams = streams._replace(client=_Replacing(streams.client, ask))
            status = forward(agent, streams)
        status = 128 - status if status < 0 else status
        copies.add(b"x", b"%d" % status)
    return status


@contextmanager
def _observer(options: Mapping[str, object]) -> Generator[tuple[Copies, Callable[[bytes], bytes]]]:
    """Run the second process during the block, in its own session: it outlives a signal to this process group."""
    # Safe paths: the current directory belongs to a project that is being edited.
    command = [sys.executable, "-P", "-m", "acp_bindings._tap.recording", json.dumps(dict(options))]
    observer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    source, sink = cast("BinaryIO", observer.stdout), cast("BinaryIO", observer.stdin)
    lost = partial(_tell, "acp-bindings tap: the recording process has ended; the conversation goes on")
    copies = Copies(partial(write_all, sink.fileno()), lost=lost)
    replies: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=lambda: [replies.put(each.data) for each in frames_of(source)], daemon=True).start()

    def ask(line: bytes) -> bytes:
        copies.add(b"r", line)
        try:
            return replies.get(timeout=REPLY)
        except Empty:
            _tell("acp-bindings tap: no receipts for this session; the recording process does not respond")
            return line

    try:
        yield copies, ask
    finally:
        copies.finish(seconds=LAST_COPIES)
        sink.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            observer.wait(LAST_COPIES)


class _Replacing:
    """Forwards the lines of the client, with relays in place of the MCP servers of a session."""

    def __init__(self, copied: Callable[[bytes], bytes], ask: Callable[[bytes], bytes]) -> None:
        self._copied = copied
        self._ask = ask
        self._begun: list[bytes] = []

    def __call__(self, chunk: bytes) -> bytes:
        self._begun.append(self._copied(chunk))
        if chunk and b"\n" not in chunk:
            return b""
        # Whole lines only, because the last one may be about servers.
        *lines, rest = b"".join(self._begun).split(b"\n")
        self._begun = [rest] if chunk else []
        changed = b"".join(self._changed(line) + b"\n" for line in lines)
        return changed if chunk else changed + self._changed(rest)

    def _changed(self, line: bytes) -> bytes:
        return self._ask(line) if b'"mcpServers"' in line else line


def _path_of(output: str | None, program: str) -> str:
    """Return the file to write: *output*, or a new file in it if it is a directory."""
    folder = Path(output) if output is not None else recordings_folder()
    if output is not None and not folder.is_dir():
        return os.path.abspath(output)
    moment = time.strftime("%Y%m%d-%H%M%S")
    return os.path.abspath(folder / f"{moment}-{Path(program).stem}-{os.getpid()}.ndjson")


def recordings_folder() -> Path:
    """Return the default folder: in the state directory of the XDG base directory specification."""
    # The specification requires that relative paths are ignored.
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"
    return state / "acp-bindings" / "recordings"


def _what_is_missing() -> str | None:
    try:
        from mcp_launch._extra import what_is_missing  # noqa: PLC0415 - it may not be installed
    except ModuleNotFoundError:
        return "acp-bindings tap: --receipts needs mcp_launch"
    return what_is_missing("acp-bindings tap --receipts")


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        write_all(2, f"{line}\n".encode(errors="replace"))

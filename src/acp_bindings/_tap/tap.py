"""The first process of `acp-bindings tap`, which starts the agent and forwards the conversation."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from acp_bindings._tap.forwarding import CannotForward, Copies, Streams, forward, signals_kept, start, write_all

LAST_COPIES = 10.0
"""Seconds for the recording to be completed after the agent has exited."""


def tap(command: Sequence[str], *, output: str | None, check: bool, view: bool, receipts: bool, secrets: bool) -> int:
    """Run an agent, record its conversation, and return its exit status, or 128 and the number of its signal."""
    path = _path_of(output, command[0])
    if output is None:
        _tell(f"acp-bindings tap: recording to {path}")
    options = {"file": path, "check": check, "view": view, "receipts": receipts, "secrets": secrets}
    with signals_kept() as forward_signals_to, _observer(options) as copies:
        try:
            agent = start(command)
        except CannotForward as error:
            _tell(f"acp-bindings tap: {error}")
            status = error.status
        else:
            forward_signals_to(agent)
            copies.add(b"s", json.dumps({"pid": agent.pid, "command": list(command)}).encode())
            status = forward(agent, _copying(copies))
        status = 128 - status if status < 0 else status
        copies.add(b"x", b"%d" % status)
    return status


def _copying(copies: Copies) -> Streams:
    # The copy is made first, so that a request is recorded before its response.
    def copied(kind: bytes, chunk: bytes) -> bytes:
        copies.add(kind, chunk)
        return chunk

    return Streams(partial(copied, b"c"), partial(copied, b"a"), partial(copied, b"e"))


@contextmanager
def _observer(options: dict[str, object]) -> Generator[Copies]:
    """Run the second process during the block, in its own session: it outlives a signal to this process group."""
    # Safe paths: the current directory belongs to a project that is being edited.
    command = [sys.executable, "-P", "-m", "acp_bindings._tap.recording", json.dumps(options)]
    observer = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0, start_new_session=True
    )
    assert observer.stdin
    lost = partial(_tell, "acp-bindings tap: the recording process has ended; the conversation goes on")
    copies = Copies(partial(write_all, observer.stdin.fileno()), lost=lost)
    try:
        yield copies
    finally:
        copies.finish(seconds=LAST_COPIES)
        observer.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            observer.wait(LAST_COPIES)


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


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        write_all(2, f"{line}\n".encode(errors="replace"))

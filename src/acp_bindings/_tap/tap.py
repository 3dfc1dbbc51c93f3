"""The first process of `acp-bindings tap`, which starts the agent and forwards the conversation."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from acp_bindings._tap.forwarding import (
    CannotForward,
    Copies,
    copying,
    forward,
    python_of,
    signals_kept,
    start,
    write_all,
)
from acp_bindings._tap.replacing import replacing

LAST_COPIES = 10.0
"""Seconds without progress after which an unfinished recording is abandoned, once the agent has exited."""


def tap(command: Sequence[str], *, output: str | None, check: bool, view: bool, receipts: bool, secrets: bool) -> int:
    """Run an agent, record its conversation, and return its exit status, or 128 plus the number of its signal."""
    if receipts and (missing := _what_is_missing()):
        _tell(missing)
        return 2
    # A directory is made if it is clear that one is meant.
    in_new_folder = output is None or output.endswith(tuple(filter(None, (os.sep, os.altsep))))
    path = _path_of(output, command[0], in_folder=in_new_folder)
    if output is None:
        _tell(f"recording to {path}")
    options = {
        "file": path,
        "in_new_folder": in_new_folder,
        "check": check,
        "view": view,
        "receipts": receipts,
        "secrets": secrets,
    }
    with signals_kept() as forward_signals_to, _recorder(options) as (copies, replies):
        try:
            agent = start(command)
        except CannotForward as error:
            _tell(str(error))
            copies.add(b"e", f"acp-bindings tap: {error}\n".encode(errors="replace"))
            status = error.status
        else:
            forward_signals_to(agent)
            copies.add(b"s", json.dumps({"pid": agent.pid, "command": list(command)}).encode())
            streams = replacing(copies, replies, tell=_tell) if receipts else copying(copies)
            status = forward(agent, streams)
        status = 128 - status if status < 0 else status
        copies.add(b"x", b"%d" % status)
    return status


@contextmanager
def _recorder(options: Mapping[str, object]) -> Generator[tuple[Copies, BinaryIO]]:
    """Run the second process during the block, in its own session: it outlives a signal to this process group."""
    command = python_of("acp_bindings._tap.recording", json.dumps(dict(options)))
    recorder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    source, sink = cast("BinaryIO", recorder.stdout), cast("BinaryIO", recorder.stdin)
    lost = partial(_tell, "the recording process has ended; the conversation goes on")
    copies = Copies(partial(write_all, sink.fileno()), lost=lost)
    try:
        yield copies, source
    finally:
        copies.finish(seconds=LAST_COPIES)
        sink.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            # What it was sent last may still be in the pipe.
            if recorder.wait(LAST_COPIES) < 0 and not copies.ended:
                lost()


def _path_of(output: str | None, program: str, *, in_folder: bool) -> str:
    """Return the file to write: *output*, or a new file in it if it is a directory."""
    folder = Path(output) if output is not None else recordings_folder()
    if not (in_folder or folder.is_dir()):
        return os.path.abspath(folder)
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
        return "--receipts needs mcp_launch"
    return what_is_missing("--receipts")


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        write_all(2, f"acp-bindings tap: {line}\n".encode(errors="replace"))

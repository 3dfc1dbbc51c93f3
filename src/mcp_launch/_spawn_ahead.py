"""Start processes of stdio servers before the libraries of the launcher are imported, to save that time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from mcp_launch._executable import CommandError, child_environment, resolve_command
from mcp_launch._json_values import as_members


class Plain(NamedTuple):
    """The fields of a valid entry of a stdio server."""

    name: str
    command: str
    args: list[str]
    env: list[tuple[str, str]]


def plain_entry(entry: object) -> Plain | None:
    """Return the fields of an entry that is certainly valid; None if the launcher may reject it."""
    members = as_members(entry)
    # These are optional only if the type is given.
    absent: list[Any] | None = [] if "type" in members else None
    match {"type": "stdio", "args": absent, "env": absent, **members}:
        case {"type": "stdio", "name": str(name), "command": str(command), "args": [*args], "env": [*env]}:
            pairs: list[Any] = [(each.get("name"), each.get("value")) for each in map(as_members, env)]
            if name and command and all(isinstance(text, str) for text in chain(args, *pairs)):
                return Plain(name, command, args, pairs)
        case _:
            pass
    return None


_LEAVING = 0.5
"""Seconds for unused processes to exit, after their input is closed and after each signal."""
_LOOK = 0.01
"""Seconds between checks whether they have."""

_Recipe: TypeAlias = tuple[tuple[str, ...], str, frozenset[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Ahead:
    """A running process, and our ends of its three pipes."""

    process: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    stderr: int


_started: dict[_Recipe, list[Ahead]] = {}


def start_ahead(servers: Iterable[object], *, cwd: str, strict: bool = False) -> None:
    """Start the processes of certainly valid stdio entries; the launcher handles all others."""
    if sys.platform == "win32" or not os.path.isabs(cwd):
        return
    names: set[str] = set()
    for entry in servers:
        plain = plain_entry(entry)
        # Of several entries with one name, the first is used.
        if plain is None or plain.name in names:
            continue
        names.add(plain.name)
        environment = child_environment(plain.env)
        # The launcher tries again and reports the error.
        with contextlib.suppress(CommandError, OSError, ValueError):
            path, _ = resolve_command(plain.command, cwd=cwd, env=environment, strict=strict)
            _start([path, *plain.args], cwd=cwd, env=environment)


def take(command: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Ahead | None:
    """Return a process that was started with exactly these arguments, if any; the caller must end it."""
    waiting = _started.get(_recipe(command, cwd, env)) if _started else None
    return waiting.pop() if waiting else None


def end_the_rest() -> None:
    """End the processes that were not taken, and wait until they have exited."""
    if sys.platform == "win32":
        return
    rest = [each for waiting in _started.values() for each in waiting]
    _started.clear()
    for each in rest:
        os.close(each.stdin)
    for number in (signal.SIGTERM, signal.SIGKILL):
        _give_time(rest)
        for each in rest:
            _signal(each, number)
    # Wait, because none must be left afterwards.
    _give_time(rest)
    # Closed last, because a process that writes while exiting would be killed by SIGPIPE.
    for each in rest:
        os.close(each.stdout)
        os.close(each.stderr)


def _give_time(processes: Sequence[Ahead]) -> None:
    until = time.monotonic() + _LEAVING
    while any(_lives(each) for each in processes) and time.monotonic() < until:
        time.sleep(_LOOK)


def _lives(each: Ahead) -> bool:
    """Return True if a process of its group is running."""
    return each.process.poll() is None or _signal(each, 0)


def _signal(each: Ahead, number: int) -> bool:
    """Send a signal to the process group; return True if there was a process in it."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(each.process.pid, number)
    except (ProcessLookupError, PermissionError):
        # macOS answers EPERM for a group of zombies.
        return False
    return True


def _start(command: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> None:
    if sys.platform == "win32":
        return
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for is_input in (True, False, False):
            reads, writes = os.pipe()
            (theirs if is_input else ours).append(reads)
            (ours if is_input else theirs).append(writes)
            os.set_blocking(ours[-1], False)
        process = subprocess.Popen(
            command,
            stdin=theirs[0],
            stdout=theirs[1],
            stderr=theirs[2],
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        _started.setdefault(_recipe(command, cwd, env), []).append(Ahead(process, *ours))
        ours = []
    finally:
        for descriptor in (*ours, *theirs):
            os.close(descriptor)


def _recipe(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> _Recipe:
    return tuple(command), cwd, frozenset(env.items())

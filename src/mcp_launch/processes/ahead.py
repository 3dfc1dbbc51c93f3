"""Starts processes before the event loop and the libraries are loaded, so that they get ready meanwhile.

The launcher then takes the process that was started with the same command, directory and environment, if there is one.
A process that nobody took is ended. Nothing slow is imported here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mcp_launch.processes.command import CommandError, resolve_command
from mcp_launch.processes.env import child_environment
from mcp_launch.processes.plain import plain_entry

__all__ = ["Ahead", "end_the_rest", "start_ahead", "take"]

_LEAVING = 0.5
"""Seconds in which the processes that nobody took must leave, after their input was closed and after each signal."""
_LOOK = 0.01
"""Seconds between two looks whether they have."""

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
    """Start the processes of the entries that are surely valid stdio servers; all others are left to the launcher."""
    if sys.platform == "win32" or not os.path.isabs(cwd):
        return
    names: set[str] = set()
    for entry in servers:
        plain = plain_entry(entry)
        # Of several with one name the first counts.
        if plain is None or plain.name in names:
            continue
        names.add(plain.name)
        environment = child_environment(plain.env)
        # The launcher tries again, and says why it cannot be started.
        with contextlib.suppress(CommandError, OSError, ValueError):
            path, _ = resolve_command(plain.command, cwd=cwd, env=environment, strict=strict)
            _start([path, *plain.args], cwd=cwd, env=environment)


def take(command: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Ahead | None:
    """The process that was started ahead with exactly this, if any; the caller has to end it from now on."""
    waiting = _started.get(_recipe(command, cwd, env)) if _started else None
    return waiting.pop() if waiting else None


def end_the_rest() -> None:
    """End the processes that nobody took; none is left when this returns."""
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
    # Dying takes a moment, and none must be left afterwards.
    _give_time(rest)
    # Only now: a process that writes something while it leaves would be killed by SIGPIPE.
    for each in rest:
        os.close(each.stdout)
        os.close(each.stderr)


def _give_time(processes: Sequence[Ahead]) -> None:
    until = time.monotonic() + _LEAVING
    while any(_lives(each) for each in processes) and time.monotonic() < until:
        time.sleep(_LOOK)


def _lives(each: Ahead) -> bool:
    """Whether anything is left of its process group, itself or what it started."""
    return each.process.poll() is None or _signal(each, 0)


def _signal(each: Ahead, number: int) -> bool:
    """Send a signal to the process group; whether there was a process in it."""
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
            list(command),
            stdin=theirs[0],
            stdout=theirs[1],
            stderr=theirs[2],
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
        _started.setdefault(_recipe(command, cwd, env), []).append(Ahead(process, *ours))
        ours = []
    finally:
        for descriptor in (*ours, *theirs):
            os.close(descriptor)


def _recipe(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> _Recipe:
    return tuple(command), cwd, frozenset(env.items())

"""Reads raw JSON of stdio servers that is surely valid, without the libraries that take time to load."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

from mcp_launch._executable import CommandError, child_environment, resolve_command
from mcp_launch._json_values import as_members


class Plain(NamedTuple):
    """The members of such an entry."""

    name: str
    command: str
    args: list[str]
    env: list[tuple[str, str]]


def plain_entry(entry: object) -> Plain | None:
    """The members of an entry that is surely valid; None for any that the launcher may refuse."""
    members = as_members(entry)
    if members.get("type", "stdio") != "stdio":
        return None
    # Only where the tag is written may these be left out.
    absent: list[object] | None = [] if "type" in members else None
    name, command = members.get("name"), members.get("command")
    args, env = _texts(members.get("args", absent)), _variables(members.get("env", absent))
    if not (isinstance(name, str) and name and isinstance(command, str) and command) or args is None or env is None:
        return None
    return Plain(name, command, args, env)


def _texts(value: object) -> list[str] | None:
    """The value, if it is an array of texts."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    texts = [item for item in items if isinstance(item, str)]
    return texts if len(texts) == len(items) else None


def _variables(value: object) -> list[tuple[str, str]] | None:
    """Names and values, if it is an array of variables."""
    if not isinstance(value, list):
        return None
    pairs: list[tuple[str, str]] = []
    for item in cast("list[object]", value):
        match item:
            case {"name": str(name), "value": str(text)}:
                pairs.append((name, text))
            case _:
                return None
    return pairs


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

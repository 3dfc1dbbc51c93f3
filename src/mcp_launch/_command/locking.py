"""`mcp-launch lock`: writes the tools of servers into a lock file, and shows what has changed since."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from acp_bindings._standard_streams import printable
from mcp_launch._command.find_servers import not_empty, read_inputs, started_ahead
from mcp_launch._command.inputs import Session, Typed, name_of
from mcp_launch._command.show.text import diff_style, remark, remark_failure, write
from mcp_launch.failures import UnusableInput
from mcp_launch.lock import LockedTools, ToolChange, ToolLock, changes, locked

if TYPE_CHECKING:
    from mcp_launch.fleet import Fleet


def with_locks(sessions: Sequence[Session], given: str | None) -> list[Session]:
    """Return the sessions with the lock files of their files, or the *given* one.

    Raises:
        UnusableInput: a lock file does not exist or cannot be used.
    """
    read: dict[str, ToolLock] = {}
    found: list[Session] = []
    for session in sessions:
        if (path := _path(session, given)) not in read:
            if not os.path.exists(path):
                raise UnusableInput(f"{path}: does not exist; create it with mcp-launch lock")
            read[path] = ToolLock.read(path)
        # Names are longer if several files have the same.
        names = {entry.name: name_of(entry.server) or entry.name for entry in session.entries}
        tools = {names[name]: tools for name, tools in read[path].servers.items() if name in names}
        found.append(replace(session, lock=ToolLock(tools, path)))
    return found


def lock_once(typed: Typed, *, update: bool, given: str | None) -> int:
    """Lock the tools of the servers, or print what has changed since; return the exit status."""
    sessions = not_empty(read_inputs(typed))
    paths = [_path(session, given) for session in sessions]
    taken: set[tuple[str, str]] = set()
    for path, session in zip(paths, sessions, strict=True):
        names = {(path, entry.name) for entry in session.entries}
        if twice := names & taken:
            name = min(twice)[1]
            raise UnusableInput(f'{path}: can have only one server named "{name}"; lock each FILE by itself')
        taken |= names
    before = {path: ToolLock.read(path) if os.path.exists(path) else None for path in paths}
    with started_ahead(sessions):
        # Imported while the servers start.
        from mcp_launch._command.run import run  # noqa: PLC0415
        from mcp_launch.options import TOOLS  # noqa: PLC0415

        async def use(fleets: Sequence[Fleet]) -> list[dict[str, LockedTools]] | None:
            failed = [server for fleet in fleets for server in fleet.report["servers"] if server["failure"]]
            for server in failed:
                remark_failure(server)
            return None if failed else [_tools(*each) for each in zip(sessions, fleets, strict=True)]

        tools = run(typed, sessions, use, lists=TOOLS)
    if tools is None:
        remark("nothing was locked, because only a server that works can be; choose servers with --only")
        return 1
    now: dict[str, dict[str, LockedTools]] = {path: {} for path in paths}
    for path, each in zip(paths, tools, strict=True):
        now[path] |= each
    done = [_lock(path, before[path], now[path], update=update, some=bool(typed.only)) for path in now]
    return 0 if all(done) else 1


def _path(session: Session, given: str | None) -> str:
    if given:
        return given
    if session.origin == "typed" or not os.path.exists(session.source):
        what = "a command" if session.source == "--" else session.source
        raise UnusableInput(f"{what} has no file to put a lock beside; use --lock-file FILE")
    return f"{session.source}.lock.json"


def _tools(session: Session, fleet: Fleet) -> dict[str, LockedTools]:
    pairs = zip(session.entries, fleet.servers, strict=True)
    return {entry.name: locked(server.tools, server.redact) for entry, server in pairs}


def _lock(path: str, before: ToolLock | None, now: dict[str, LockedTools], *, update: bool, some: bool) -> bool:
    """Write the lock file if that is allowed, and return False if changes were not accepted."""
    from acp_bindings._atomic_write import atomic_write  # noqa: PLC0415 - only needed to write

    old: Mapping[str, LockedTools] = before.servers if before else {}
    found = [(name, change) for name, tools in now.items() for change in changes(old.get(name, {}), tools)]
    # With --only, the other servers stay as they are.
    gone = [name for name in old if name not in now and not some]
    is_changed = bool(found or gone or now.keys() - old.keys())
    if before is not None:
        _write_changes(found, gone)
        if not is_changed:
            write(f"{path}: nothing has changed")
            return True
        if not update:
            remark(f"mcp-launch: {path} was not changed; run mcp-launch lock --update if you trust these tools")
            return False
    lock = ToolLock({**(old if some else {}), **now}, path)
    try:
        atomic_write(path, lock.text.encode())
    except OSError as error:
        raise UnusableInput(f"{path}: {error.strerror}") from None
    count = sum(map(len, lock.servers.values()))
    write(f"{path}: locked {count} tool{'s' if count != 1 else ''} of {', '.join(map(printable, lock.servers))}")
    return True


def _write_changes(found: Sequence[tuple[str, ToolChange]], gone: Sequence[str]) -> None:
    for name, change in found:
        write((printable(f"{name}: {change}"), "bold"))
        for line in change.diff.splitlines():
            write((f"  {printable(line)}", diff_style(line)))
    for name in gone:
        write((printable(f"{name}: is no longer in the file"), "bold"))

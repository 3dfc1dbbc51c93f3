"""Find what a test left behind: descriptors, children, and processes with a mark in their environment."""

from __future__ import annotations

import os
from pathlib import Path


def open_files() -> list[str]:
    """Return the targets of our descriptors, of the kinds used by connections and child processes."""
    targets: list[str] = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(descriptor)
        except OSError:
            continue
        if target.startswith(("socket:", "pipe:", "pidfd:", "anon_inode:[pidfd]")):
            targets.append(target)
    return sorted(targets)


def children() -> set[int]:
    """Return our child processes, including zombies."""
    me = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return {int(each) for each in me}


def marked_processes(name: str, value: str) -> list[int]:
    """Return the processes with that variable, which their children inherit. Zombies have no environment."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if f"{name}={value}".encode() in environment.split(b"\0"):
            found.append(int(entry.name))
    return found

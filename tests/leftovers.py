"""Find what a test left behind: descriptors, children, and processes with a mark in their environment."""

from __future__ import annotations

import importlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

psutil: Any = None if Path("/proc").exists() else importlib.import_module("psutil")
"""Used on systems without `/proc`, such as macOS."""


def open_files() -> list[str]:
    """Return the targets of our descriptors, of the kinds used by connections and child processes."""
    targets: list[str] = []
    if psutil:
        for descriptor in os.listdir("/dev/fd"):
            with suppress(OSError):
                found = os.fstat(int(descriptor))
                if stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode):
                    targets.append(f"{stat.filemode(found.st_mode)} {found.st_ino}")
        return sorted(targets)
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
    if psutil:
        return {each.pid for each in psutil.Process().children()}
    me = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return {int(each) for each in me}


def marked_processes(name: str, value: str) -> list[int]:
    """Return the processes with that variable, which their children inherit. Zombies have no environment."""
    if psutil:
        processes = psutil.process_iter(["environ"])
        return [each.pid for each in processes if (name, value) in (each.info["environ"] or {}).items()]
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if f"{name}={value}".encode() in environment.split(b"\0"):
            found.append(int(entry.name))
    return found

"""`mcp-launch check --watch`: repeats the check whenever one of its files changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from mcp_launch.command.inputs import Typed
from mcp_launch.command.show.text import complain, remark
from mcp_launch.failures import UnusableInput

__all__ = ["again_and_again"]

_LOOK = 0.2
"""Seconds between two looks at the files: for a few of them, no compiled library is needed that the system notifies."""

_State: TypeAlias = dict[str, tuple[int, int, int] | None]


def again_and_again(typed: Typed, once: Callable[[], object]) -> NoReturn:
    """Check now and after each change, until a signal comes.

    Raises:
        UnusableInput: no file was named, or standard input, which does not change.
        SystemExit: a signal came.
    """
    if not typed.files or "-" in typed.servers:
        raise UnusableInput("--watch goes with files: there has to be something that changes")
    while True:
        before = _state(typed)
        try:
            once()
        except UnusableInput as error:
            # The next change will mend it.
            complain(str(error))
        remark((f"watching {', '.join(typed.files)}; Ctrl-C ends it", "dim"))
        _wait_for_change(typed, before)


def _wait_for_change(typed: Typed, before: _State) -> None:
    while (state := _state(typed)) == before:
        time.sleep(_LOOK)
    # Wait until it no longer changes: it may be half written.
    while state != before:
        time.sleep(_LOOK)
        before, state = state, _state(typed)


def _state(typed: Typed) -> _State:
    """What tells one version of each file from the next, also when an editor puts a new file in its place."""
    return {file: _version(file) for file in typed.files}


def _version(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns

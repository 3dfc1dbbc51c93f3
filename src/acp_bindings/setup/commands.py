"""Which program a command means on this system: what a client asks before it sends `McpServerStdio.command`."""

from __future__ import annotations

import os
import shutil

from acp_bindings.errors import AcpError
from acp_bindings.setup.transports import ARGUMENTS_APART

__all__ = ["CommandNotFound", "resolve_command"]


class CommandNotFound(AcpError, LookupError):  # noqa: N818 - says what is wrong, which a suffix would not
    """There is no program of this name that could be run."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(command, reason)
        self.command = command
        self.reason = reason
        """Where it was looked for, and what may be wrong."""

    def __str__(self) -> str:
        """`"npx": not found on PATH; is it installed?`."""
        return f'"{self.command}": {self.reason}'


def resolve_command(command: str, *, cwd: str | os.PathLike[str] | None = None, path: str | None = None) -> str:
    r"""The absolute path of the program that *command* means on this system, as `shutil.which` finds it.

    It is what ACP wants in `command`, where people write `npx`. Only a client can tell: the agent may run elsewhere, or
    with another `PATH`. On Windows the extensions of `PATHEXT` are tried, so that `npx` becomes `…\npx.CMD`. Links are
    not followed: a program may go by the name that it is called with.

    Args:
        command: a name that is looked up on `PATH`, or a path, where `~` is the user's home.
        cwd: where a relative path begins; without it there are none.
        path: what to search instead of `PATH`.

    Raises:
        CommandNotFound: there is no such program, or it cannot be executed.
    """
    if "\0" in command or not command:
        raise CommandNotFound(command.replace("\0", "\\0"), "no program has such a name")
    wanted = os.path.expanduser(command)
    if os.path.dirname(wanted):
        if not os.path.isabs(wanted) and cwd is None:
            raise CommandNotFound(command, "a relative path; give cwd=, where it begins, or send an absolute one")
        wanted = os.path.abspath(os.path.join(cwd or "", wanted))
    found = shutil.which(wanted, path=path)
    if found is None:
        raise CommandNotFound(command, _reason(wanted))
    return os.path.abspath(found)


def _reason(wanted: str) -> str:
    if os.path.dirname(wanted):
        if os.path.isdir(wanted):
            return "it is a directory"
        if os.path.exists(wanted):
            return "it is not executable; try chmod +x"
        return "there is no such file" + _arguments(wanted)
    return "not found on PATH" + (_arguments(wanted) or "; is it installed?")


def _arguments(wanted: str) -> str:
    return f"; {ARGUMENTS_APART}" if any(map(str.isspace, wanted)) else ""

"""What a server process is given: its environment, and the file that is run.

A server does not see our whole environment, which may be full of keys meant for others. It inherits what a child needs
to behave (`INHERITED`), then gets the `env` of its specification on top; of duplicates the last wins.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping

from mcp_launch.failures import Code

__all__ = ["INHERITED", "CommandError", "child_environment", "resolve_command"]

_POSIX = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
_WINDOWS = (
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")

INHERITED = frozenset((*(_WINDOWS if sys.platform == "win32" else _POSIX), "LANG", *_PROXIES, *_CERTIFICATES))
"""The variables a server inherits, beside all that start with `LC_`."""


class CommandError(Exception):
    """The command of a specification cannot be run."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code


def child_environment(
    env: Iterable[tuple[str, str]] = (), *, parent: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of a server: what it inherits from `parent` (ours by default), then its own `env`."""
    inherited = {
        name: value
        for name, value in (os.environ if parent is None else parent).items()
        # A value that starts with "()" is a shell function of an old bash, not text.
        if (name in INHERITED or name.startswith("LC_")) and not value.startswith("()")
    }
    return inherited | dict(env)


def resolve_command(command: str, *, cwd: str, env: Mapping[str, str]) -> tuple[str, str | None]:
    """The file to run, and a warning when the command was not the absolute path that ACP asks for.

    Raises:
        CommandError: there is no such file, or it cannot be executed.
    """
    if os.path.isabs(command):
        return _executable(command, shown=command), None
    if os.path.dirname(command):
        path = _executable(os.path.join(cwd, command), shown=command)
        return path, f'the command "{command}" was taken relative to the session\'s cwd; ACP wants an absolute path'
    found = shutil.which(command, path=env.get("PATH", os.defpath))
    if found is None:
        advice = _misread(command) or f"ACP wants an absolute path; {_INSTALLERS.get(command, 'is it installed?')}"
        message = f'command not found on PATH: "{command}". {advice}'
        raise CommandError("command_not_found", message)
    return found, f'the command "{command}" was found on PATH as {found}; ACP wants an absolute path'


_NODE = "is Node.js installed?"
_UV = "is uv installed?"
_INSTALLERS = {"node": _NODE, "npm": _NODE, "npx": _NODE, "uv": _UV, "uvx": _UV, "docker": "is Docker installed?"}


def _misread(command: str) -> str | None:
    """What people take a command for: a line of shell."""
    if command.startswith("~"):
        return 'a "~" is not expanded here; write the whole path'
    if any(each.isspace() for each in command):
        return 'it is taken as the path of one program; arguments belong in "args"'
    return None


def _executable(path: str, *, shown: str) -> str:
    if os.path.isdir(path):
        raise CommandError("not_executable", f'the command is a directory: "{shown}"')
    if not os.path.exists(path):
        advice = _misread(shown) or "is the path right?"
        raise CommandError("command_not_found", f'command not found: "{shown}"; {advice}')
    if not os.access(path, os.X_OK):
        raise CommandError("not_executable", f'the command is not executable: "{shown}"; try chmod +x')
    return path

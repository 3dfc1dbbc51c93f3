"""The environment and the program of a server process.

A server does not get our whole environment, which may contain keys for other programs. It inherits what a process
needs to work (`INHERITED`) and gets the `env` of its specification. Of duplicate names, the last wins.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping

from mcp_launch.report import Code, Stage

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
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_NO_PROXIES = ("NO_PROXY", "no_proxy")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")

INHERITED = frozenset(
    (*(_WINDOWS if sys.platform == "win32" else _POSIX), "LANG", *_PROXIES, *_NO_PROXIES, *_CERTIFICATES)
)
"""The variables that a server inherits, in addition to those that start with `LC_`."""
HARMLESS = INHERITED.difference(_PROXIES) | {"PWD"}
"""Variables whose values are not secret, such as directories, languages and certificates."""


def child_environment(
    env: Iterable[tuple[str, str]] = (), *, parent: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of a server: variables inherited from `parent` (ours by default), then `env`."""
    variables = os.environ if parent is None else parent
    # The names first, because reading a value of `os.environ` takes longer than all the rest here.
    names = [name for name in variables if name in INHERITED or name.startswith("LC_")]
    # A value that starts with "()" is a shell function of an old bash.
    inherited = {name: value for name in names if not (value := variables[name]).startswith("()")}
    return inherited | dict(env)


def inherited_proxies() -> list[str]:
    """Return the URLs of the proxies that a server inherits; they may contain passwords."""
    return [os.environ[name] for name in _PROXIES if name in os.environ]


class CommandError(Exception):
    """The command of a specification cannot be run."""

    def __init__(self, code: Code, message: str, *, stage: Stage = "spawn") -> None:
        super().__init__(message)
        self.code: Code = code
        self.stage: Stage = stage


def resolve_command(command: str, *, cwd: str, env: Mapping[str, str], strict: bool = False) -> tuple[str, str | None]:
    """Return the file to run, and a warning if the command is not an absolute path, as ACP requires.

    Raises:
        CommandError: the file does not exist or cannot be executed, or with `strict`, the path is not absolute.
    """
    if os.path.isabs(command):
        return _executable(command, shown=command), None
    found = _found(command, cwd=cwd, env=env)
    if strict:
        advice = f'write "{found}"' if found else _advice(command, cwd=cwd)
        message = f'the command must be an absolute path, not "{command}"; {advice}'
        raise CommandError("invalid_spec", message, stage="spec")
    if os.path.dirname(command):
        path = _executable(os.path.join(cwd, command), shown=command, relative_to=cwd)
        where = "was resolved relative to the session's cwd"
        return path, f'the command "{command}" {where}; ACP requires an absolute path'
    if found is None:
        where = "on PATH" if env.get("PATH", os.defpath) else "on PATH, which is empty"
        advice = _misread(command) or f"{_advice(command, cwd=cwd)} ACP requires an absolute path"
        raise CommandError("command_not_found", f'command not found {where}: "{command}"; {advice}')
    return found, f'the command "{command}" was found on PATH as {found}; ACP requires an absolute path'


_NODE = "is Node.js installed?"
_UV = "is uv installed?"
_INSTALLERS = {"node": _NODE, "npm": _NODE, "npx": _NODE, "uv": _UV, "uvx": _UV, "docker": "is Docker installed?"}


def _found(command: str, *, cwd: str, env: Mapping[str, str]) -> str | None:
    """Return the program that a relative command means for a process in `cwd`, if there is one."""
    if os.path.dirname(command):
        return shutil.which(os.path.join(cwd, command))
    path = env.get("PATH", os.defpath)
    # A relative entry of PATH is relative to the directory of the child, not to ours.
    entries = [os.path.join(cwd, entry) for entry in path.split(os.pathsep)] if path else []
    return shutil.which(command, path=os.pathsep.join(entries))


def _advice(command: str, *, cwd: str) -> str:
    if advice := _misread(command):
        return advice
    if os.path.dirname(command):
        return f'there is no program "{os.path.join(cwd, command)}" either'
    return _INSTALLERS.get(command, "is it installed?")


def _misread(command: str) -> str | None:
    """Return what to change in a command that is not a path, such as a line of shell or a URL."""
    # Imported late because it imports pydantic, which takes as long as the start of a server.
    from acp_bindings.setup._paths import likeness  # noqa: PLC0415

    if advice := _MISREAD.get(likeness(command)):
        return advice
    if command.lower() in _OF_WINDOWS and os.name != "nt":
        return "that is the Windows shell; on other systems, the command is what follows /c"
    if any(each.isspace() for each in command.rstrip()):
        return 'all of it is used as the path of one program; put arguments in "args"'
    if command != command.rstrip():
        return "it ends with whitespace, which counts as part of the name"
    unseen = next((each for each in command if not each.isprintable()), None)
    return f"it contains the invisible character U+{ord(unseen):04X}; type it again" if unseen else None


_MISREAD: dict[str, str] = {
    "home": '"~" is not expanded here; write the full path',
    "variable": "variables are not expanded here; write the value",
    "url": "it is a URL; write a file path instead",
    "quoted": "the quotes count as part of the name; remove them",
    "padded": "it begins with whitespace, which counts as part of the name",
}
_RUNNERS = {".cjs": "node", ".js": "node", ".mjs": "node", ".py": "python", ".sh": "sh"}
_OF_WINDOWS = frozenset(("cmd", "cmd.exe"))
if os.name != "nt":
    _MISREAD["windows"] = _MISREAD["drive"] = "it is a Windows path, and this system is not Windows"


def _executable(path: str, *, shown: str, relative_to: str | None = None) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if os.path.islink(path):
            message = f'the command is a broken link: "{shown}" -> "{os.readlink(path)}"'
            raise CommandError("command_not_found", message) from None
        if error.errno == errno.EACCES:
            message = f'the command is in a directory that cannot be accessed: "{shown}"'
            raise CommandError("not_executable", message) from None
        where = "" if relative_to is None else f' in "{relative_to}"'
        advice = _misread(shown) or "is the path right?"
        raise CommandError("command_not_found", f'command not found: "{shown}"{where}; {advice}') from None
    if stat.S_ISDIR(mode):
        raise CommandError("not_executable", f'the command is a directory: "{shown}"')
    if not stat.S_ISREG(mode):
        raise CommandError("not_executable", f'the command is a device, pipe or socket, not a program: "{shown}"')
    if not os.access(path, os.X_OK):
        runner = _RUNNERS.get(os.path.splitext(path)[1])
        other = f', or set the command to {runner} and put this file in "args"' if runner else ""
        raise CommandError("not_executable", f'the command is not executable: "{shown}"; try chmod +x{other}')
    return path

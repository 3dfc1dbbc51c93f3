"""The environment that a server process is given.

A server does not see our whole environment, which may hold keys that are meant for others. It inherits what a process
needs to work (`INHERITED`), and then gets the `env` of its specification; of duplicates the last wins.
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
"""The variables a server inherits, beside all that start with `LC_`."""
HARMLESS = INHERITED.difference(_PROXIES) | {"PWD"}
"""Variables whose values are no secrets: which directories, languages and certificates there are."""


def child_environment(
    env: Iterable[tuple[str, str]] = (), *, parent: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of a server: what it inherits from `parent` (ours by default), then its own `env`."""
    variables = os.environ if parent is None else parent
    # The names first: reading a value of `os.environ` costs more than all the rest here.
    names = [name for name in variables if name in INHERITED or name.startswith("LC_")]
    # A value that starts with "()" is a shell function of an old bash, not text.
    inherited = {name: value for name in names if not (value := variables[name]).startswith("()")}
    return inherited | dict(env)


def inherited_proxies() -> list[str]:
    """Return the URLs of the proxies that a server inherits, which may hold passwords."""
    return [os.environ[name] for name in _PROXIES if name in os.environ]


class CommandError(Exception):
    """The command of a specification cannot be run."""

    def __init__(self, code: Code, message: str, *, stage: Stage = "spawn") -> None:
        super().__init__(message)
        self.code: Code = code
        self.stage: Stage = stage


def resolve_command(command: str, *, cwd: str, env: Mapping[str, str], strict: bool = False) -> tuple[str, str | None]:
    """The file to run, and a warning when the command was not the absolute path that ACP asks for.

    Raises:
        CommandError: there is no such file, it cannot be executed, or it is not absolute where `strict` wants it.
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
        return path, f'the command "{command}" was taken relative to the session\'s cwd; ACP wants an absolute path'
    if found is None:
        where = "on PATH" if env.get("PATH", os.defpath) else "on PATH, which is empty"
        advice = _misread(command) or f"{_advice(command, cwd=cwd)} ACP wants an absolute path"
        raise CommandError("command_not_found", f'command not found {where}: "{command}"; {advice}')
    return found, f'the command "{command}" was found on PATH as {found}; ACP wants an absolute path'


_NODE = "is Node.js installed?"
_UV = "is uv installed?"
_INSTALLERS = {"node": _NODE, "npm": _NODE, "npx": _NODE, "uv": _UV, "uvx": _UV, "docker": "is Docker installed?"}


def _found(command: str, *, cwd: str, env: Mapping[str, str]) -> str | None:
    """The program that a relative command means for a process that runs in `cwd`, if there is one."""
    if os.path.dirname(command):
        return shutil.which(os.path.join(cwd, command))
    path = env.get("PATH", os.defpath)
    # A relative entry of PATH is relative to where the child runs, not to our own directory.
    entries = [os.path.join(cwd, entry) for entry in path.split(os.pathsep)] if path else []
    return shutil.which(command, path=os.pathsep.join(entries))


def _advice(command: str, *, cwd: str) -> str:
    if advice := _misread(command):
        return advice
    if os.path.dirname(command):
        return f'there is no program "{os.path.join(cwd, command)}" either'
    return _INSTALLERS.get(command, "is it installed?")


def _misread(command: str) -> str | None:
    """What to change in a command that is written as something else, such as a line of shell or a path of Windows."""
    # Imported late: it brings pydantic, which takes as long as the start of a server.
    from acp_bindings.setup._paths import likeness  # noqa: PLC0415

    if advice := _MISREAD.get(likeness(command)):
        return advice
    if command.lower() in _OF_WINDOWS and os.name != "nt":
        return "that is the shell of Windows; elsewhere what stands behind its /c is the command"
    if any(each.isspace() for each in command.rstrip()):
        return 'it is taken as the path of one program; arguments belong in "args"'
    if command != command.rstrip():
        return "it ends with white space, which is taken as part of its name"
    unseen = next((each for each in command if not each.isprintable()), None)
    return f"it has U+{ord(unseen):04X} in it, which cannot be seen; type it anew" if unseen else None


_MISREAD: dict[str, str] = {
    "home": 'a "~" is not expanded here; write the whole path',
    "variable": "variables are not replaced here; write what it stands for",
    "url": "it is a URL; write the path that it is of",
    "quoted": "its quotes are taken as part of its name; leave them out",
    "padded": "it begins with white space, which is taken as part of its name",
}
_RUNNERS = {".cjs": "node", ".js": "node", ".mjs": "node", ".py": "python", ".sh": "sh"}
_OF_WINDOWS = frozenset(("cmd", "cmd.exe"))
if os.name != "nt":
    _MISREAD["windows"] = _MISREAD["drive"] = "it is a path of Windows, which this system is not"


def _executable(path: str, *, shown: str, relative_to: str | None = None) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if os.path.islink(path):
            message = f'the command is a link to what does not exist: "{shown}" -> "{os.readlink(path)}"'
            raise CommandError("command_not_found", message) from None
        if error.errno == errno.EACCES:
            raise CommandError("not_executable", f'the command is in a directory closed to us: "{shown}"') from None
        where = "" if relative_to is None else f' from "{relative_to}", where it was to run'
        advice = _misread(shown) or "is the path right?"
        raise CommandError("command_not_found", f'command not found: "{shown}"{where}; {advice}') from None
    if stat.S_ISDIR(mode):
        raise CommandError("not_executable", f'the command is a directory: "{shown}"')
    if not stat.S_ISREG(mode):
        raise CommandError("not_executable", f'the command is a device, pipe or socket, not a program: "{shown}"')
    if not os.access(path, os.X_OK):
        runner = _RUNNERS.get(os.path.splitext(path)[1])
        other = f', or give it to {runner}: that is the command, and this in "args"' if runner else ""
        raise CommandError("not_executable", f'the command is not executable: "{shown}"; try chmod +x{other}')
    return path

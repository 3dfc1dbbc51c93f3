"""The environment and the program of a server process.

A server does not get our whole environment, which may contain keys for other programs. It inherits what a process
needs to work (`INHERITED`) and gets the `env` of its specification. Of duplicate names, the last wins.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from mcp_launch.failures import OF_ACP, Phrases
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


def child_environment(env: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the environment of a server: what it inherits, then `env`."""
    # The names first, because reading a value of `os.environ` takes longer than all the rest here.
    names = [name for name in os.environ if name in INHERITED or name.startswith("LC_")]
    return {name: os.environ[name] for name in names} | dict(env)


def inherited_proxies() -> list[str]:
    """Return the URLs of the proxies that a server inherits; they may contain passwords."""
    return [os.environ[name] for name in _PROXIES if name in os.environ]


class CommandError(Exception):
    """The command of a specification cannot be run."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        stage: Stage = "spawn",
        advice: str | None = None,
        edit: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code: Code = code
        self.stage: Stage = stage
        self.advice = advice
        """Advice, if there is more than the general advice for the code."""
        self.edit = edit
        """The change of the entry that the message suggests, as in the facts of a failure."""


def resolve_command(
    command: str, *, cwd: str, env: Mapping[str, str], strict: bool = False, phrases: Phrases = OF_ACP
) -> tuple[str, str | None]:
    """Return the file to run, and a warning if the command is not an absolute path although a rule requires that.

    Raises:
        CommandError: the file does not exist or cannot be executed, or with `strict`, the path is not absolute.
    """
    given = _Command(command, cwd, env, phrases)
    if os.path.isabs(command):
        return _executable(given, command), None
    found = given.found()
    if strict:
        advice = f'write "{found}"' if found else given.advice()
        message = f'the command must be an absolute path, not "{command}"; {advice}'
        raise CommandError("invalid_spec", message, stage="spec", advice=advice, edit=given.edit())
    rule = phrases.absolute
    if os.path.dirname(command):
        path = _executable(given, os.path.join(cwd, command))
        where = "was resolved relative to the session's cwd"
        return path, f'the command "{command}" {where}; {rule}' if rule else None
    if found is None:
        where = "on PATH" if env.get("PATH", os.defpath) else "on PATH, which is empty"
        misread = given.misread()
        message = f'command not found {where}: "{command}"; {misread or f"{given.advice()} {rule}".rstrip()}'
        raise CommandError("command_not_found", message, advice=misread, edit=given.edit())
    return found, f'the command "{command}" was found on PATH as {found}; {rule}' if rule else None


_NODE = "is Node.js installed?"
_UV = "is uv installed?"
_INSTALLERS = {"node": _NODE, "npm": _NODE, "npx": _NODE, "uv": _UV, "uvx": _UV, "docker": "is Docker installed?"}
RUNNERS = frozenset((*_INSTALLERS, "bun", "bunx", "deno", "pipx", "podman", "python", "python3"))
"""Programs that start servers. They are recognized even if they are not installed."""
WITH_VALUE = frozenset(
    (
        *("--default-index", "--extra-index-url", "--index", "--index-url", "--registry"),
        *("--directory", "--env-file", "--extra", "--package", "--project", "--python", "-p"),
        *("--with", "--with-editable", "--with-requirements", "--import", "--loader", "--require", "-r", "-W", "-X"),
    )
)
"""Options of runners, except for docker, that are followed by a value, before the package or script."""
WITH_VALUE_OF_DOCKER = frozenset(
    (
        *("-e", "--env", "--env-file", "-v", "--volume", "--mount", "--network", "--name", "-p", "--publish"),
        *("-w", "--workdir", "-u", "--user", "--add-host", "--entrypoint", "--platform", "--pull"),
    )
)
_VERBS = frozenset(("exec", "run", "tool", "x"))


def operand_in(args: Sequence[str], *, with_value: Collection[str]) -> int | None:
    """Return the index of what a runner starts: not an option, nor the value of one, nor a verb such as `run`."""
    for index, (before, each) in enumerate(pairwise(("", *args))):
        if before not in with_value and each not in _VERBS and not each.startswith("-"):
            return index
    return None


class _Command(NamedTuple):
    """The command of an entry, and what it depends on."""

    command: str
    cwd: str
    env: Mapping[str, str]
    phrases: Phrases

    def found(self) -> str | None:
        """Return the program that the command means if it is relative, if there is one."""
        if os.path.dirname(self.command):
            return shutil.which(os.path.join(self.cwd, self.command))
        path = self.env.get("PATH", os.defpath)
        # A relative entry of PATH is relative to the directory of the child, not to ours.
        entries = [os.path.join(self.cwd, entry) for entry in path.split(os.pathsep)] if path else []
        return shutil.which(self.command, path=os.pathsep.join(entries))

    def advice(self) -> str:
        if advice := self.misread():
            return advice
        if os.path.dirname(self.command):
            return f'"{os.path.join(self.cwd, self.command)}" does not exist either'
        return _INSTALLERS.get(self.command, "is it installed?")

    def edit(self) -> dict[str, Any] | None:
        """Return the change of an entry whose command contains its arguments, or is not absolute."""
        if words := self.words():
            return {"command": words[0], "insert": words[1:], "at": 0}
        found = None if os.path.isabs(self.command) else self.found()
        return {"command": found} if found else None

    def misread(self) -> str | None:  # noqa: PLR0911 - a list of cases
        """Return what to change in a command that is not a path, such as a line of shell or a URL."""
        # Imported late because it imports pydantic, which takes as long as the start of a server.
        from acp_bindings.setup._paths import likeness  # noqa: PLC0415

        command = self.command
        if advice := _MISREAD.get(likeness(command)):
            return advice
        if wrong := self.phrases.unexpanded(command, "command"):
            return f"it {wrong}"
        if command in _OF_SHELLS:
            return "only shells have that command; the command must be a program"
        if command.lower() in _OF_WINDOWS and os.name != "nt":
            return "that is the Windows shell; on other systems, the command is what follows /c"
        if words := self.words():
            return f"it contains its arguments; write {as_entry(words, self.phrases)}"
        if any(each.isspace() for each in command.rstrip()):
            return 'all of it is used as the path of one program; put arguments in "args"'
        if command != command.rstrip():
            return "it ends with whitespace, which counts as part of the name"
        unseen = next((each for each in command if not each.isprintable()), None)
        return f"it contains the invisible character U+{ord(unseen):04X}; type it again" if unseen else None

    def words(self) -> list[str]:
        """Return the words of a command that contains its arguments; empty if it is one path."""
        words = words_of(self.command)
        if len(words) < 2:
            return []
        # The beginning of a path with spaces is not a program.
        program = os.path.join(self.cwd, words[0])
        is_program = os.path.isfile(program) if os.path.dirname(words[0]) else self._replace(command=words[0]).found()
        return words if is_program or words[0] in RUNNERS else []


def words_of(line: str) -> list[str]:
    """Return the words of a command line, as a shell would split it."""
    import shlex  # noqa: PLC0415 - only needed for mistakes

    try:
        # Backslashes are those of Windows paths.
        return shlex.split(line, posix=os.name != "nt" and "\\" not in line)
    except ValueError:
        return line.split()


def as_entry(words: Sequence[str], phrases: Phrases) -> str:
    """Return a program and its arguments as in an entry."""
    name, (program, *args) = phrases.called("command"), words
    entry = {name: list(words)} if phrases.lists_command else {name: program, "args": args}
    return json.dumps(entry, ensure_ascii=False)[1:-1]


_MISREAD: dict[str, str] = {
    "home": '"~" is not expanded here; write the full path',
    "url": "it is a URL; write a file path instead",
    "quoted": "the quotes count as part of the name; remove them",
    "padded": "it begins with whitespace, which counts as part of the name",
}
_INTERPRETERS = {".cjs": "node", ".js": "node", ".mjs": "node", ".py": "python3", ".sh": "sh"}
_OF_WINDOWS = frozenset(("cmd", "cmd.exe"))
_OF_SHELLS = frozenset(("alias", "cd", "exec", "export", "set", "source"))
if os.name != "nt":
    _MISREAD["windows"] = _MISREAD["drive"] = "it is a Windows path, and this system is not Windows"


def _executable(given: _Command, path: str) -> str:
    shown = given.command
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if os.path.islink(path):
            message = f'the command is a broken link: "{shown}" -> "{os.readlink(path)}"'
            advice = "correct the link, or use the path of the program itself"
            raise CommandError("command_not_found", message, advice=advice) from None
        if error.errno == errno.EACCES:
            message = f'the command is in a directory that cannot be accessed: "{shown}"'
            raise CommandError("not_executable", message, advice="check the permissions of the directories") from None
        where = "" if path == shown else f' in "{given.cwd}"'
        misread = given.misread()
        message = f'command not found: "{shown}"{where}; {misread or "is the path right?"}'
        advice = misread or "correct the path of the command; it may be that of another machine"
        raise CommandError("command_not_found", message, advice=advice, edit=given.edit()) from None
    if stat.S_ISDIR(mode):
        advice = "write the path of a program in that directory as the command"
        raise CommandError("not_executable", f'the command is a directory: "{shown}"', advice=advice)
    if not stat.S_ISREG(mode):
        raise CommandError("not_executable", f'the command is a device, pipe or socket, not a program: "{shown}"')
    if not os.access(path, os.X_OK):
        runner = _INTERPRETERS.get(os.path.splitext(path)[1])
        # First, because chmod +x does not suffice for a script whose first line does not name its interpreter.
        other = f'set the command to {runner} and put this file in "args", or ' if runner else ""
        raise CommandError("not_executable", f'the command is not executable: "{shown}"; {other}try chmod +x')
    return path

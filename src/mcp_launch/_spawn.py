"""Explains why the system did not start a process."""

from __future__ import annotations

import errno
import os
import stat

from acp_bindings._processes.process import ChildProcess
from mcp_launch import _spawn_ahead as ahead
from mcp_launch._executable import CommandError, child_environment, resolve_command
from mcp_launch._spec import StdioServer
from mcp_launch.failures import LaunchFailure
from mcp_launch.report import Code


def explain_refusal(error: OSError, *, path: str, command: str, cwd: str) -> CommandError:
    """What is wrong, when starting the file at `path` raised that error."""
    if error.filename == cwd:
        return wrong_directory(cwd) or CommandError("invalid_spec", f'the working directory is closed to us: "{cwd}"')
    reason = error.strerror or str(error)
    code: Code = "not_executable"
    match error.errno:
        case errno.ENOENT:
            message = _no_interpreter(path, command)
        case errno.ENOEXEC:
            message = _no_format(path, command)
        case errno.E2BIG:
            code = "invalid_spec"
            message = 'its "args" and "env" are too long: the system starts no process with that much'
        case errno.EMFILE | errno.ENFILE:
            code = "failed"
            message = "too many files are open to start it; raise the limit (ulimit -n), or launch fewer servers"
        case errno.EAGAIN | errno.ENOMEM:
            code = "failed"
            message = f"the system has no room for another process ({reason})"
        case _:
            message = f'cannot run "{command}": {reason}'
    return CommandError(code, message)


def wrong_directory(cwd: str) -> CommandError | None:
    """What is wrong with the session's directory, if anything is."""
    try:
        if stat.S_ISDIR(os.stat(cwd).st_mode):
            return None
        wrong = "is a file"
    except PermissionError:
        wrong = "is closed to us"
    except OSError:
        wrong = "does not exist"
    # `invalid_spec`, because the client sent it and must send another one.
    return CommandError("invalid_spec", f'the working directory {wrong}: "{cwd}"')


def _no_interpreter(path: str, command: str) -> str:
    """The message for a file that exists: then the interpreter or loader that it names is missing."""
    head = _head(path)
    if not head.startswith(b"#!"):
        return f'what "{command}" needs to run is not on this system; was it built for another one?'
    line = head.splitlines(keepends=True)[0]
    if line.endswith(b"\r\n"):
        return f'the first line of "{command}" ends as Windows ends lines (CR LF); save it with LF'
    interpreter = line[2:].decode(errors="replace").split()
    return f'the interpreter in the first line of "{command}" does not exist: "{interpreter[0] if interpreter else ""}"'


def _no_format(path: str, command: str) -> str:
    head = _head(path)
    if head.startswith(b"\xef\xbb\xbf#!"):
        return f'"{command}" has a byte order mark before its "#!" line; save it without one'
    if head.isascii():
        return f'"{command}" is no program; does it begin with a "#!" line?'
    return f'"{command}" is no program for this kind of machine; was it built for another one?'


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(256)
    except OSError:
        return b""


async def spawn(spec: StdioServer, *, cwd: str, strict: bool = False) -> tuple[ChildProcess, str | None]:
    """Start the server's process in the session's directory; with it, a warning about its command if there is one.

    Raises:
        LaunchFailure: in stage `spawn`; in stage `spec` when the command is not absolute although `strict` asks for it.
    """
    env = child_environment(spec.env)
    path = spec.command
    try:
        if wrong := wrong_directory(cwd):
            raise wrong
        path, warning = resolve_command(spec.command, cwd=cwd, env=env, strict=strict)
        command = [path, *spec.args]
        if (started := ahead.take(command, cwd=cwd, env=env)) is not None:
            return ChildProcess.adopt(
                started.process, stdin=started.stdin, stdout=started.stdout, stderr=started.stderr
            ), warning
        return await ChildProcess.start(command, cwd=cwd, env=env), warning
    except CommandError as error:
        raise _failure(error, spec, cwd=cwd) from None
    except OSError as error:
        refusal = explain_refusal(error, path=path, command=spec.command, cwd=cwd)
        raise _failure(refusal, spec, cwd=cwd) from error


def _failure(error: CommandError, spec: StdioServer, *, cwd: str) -> LaunchFailure:
    facts = {"command": spec.command, "cwd": cwd}
    return LaunchFailure(str(error), server=spec.name, stage=error.stage, code=error.code, facts=facts)

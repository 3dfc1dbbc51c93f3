"""Start the process of a server, or explain why the system did not start it."""

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
    """Return why starting the file at `path` raised this error."""
    if error.filename == cwd:
        message = f'the working directory cannot be accessed: "{cwd}"'
        return wrong_directory(cwd) or CommandError("invalid_spec", message)
    reason = error.strerror or str(error)
    code: Code = "not_executable"
    match error.errno:
        case errno.ENOENT:
            message = _no_interpreter(path, command)
        case errno.ENOEXEC:
            message = _no_format(path, command)
        case errno.E2BIG:
            code = "invalid_spec"
            message = 'its "args" and "env" together are longer than the system allows'
        case errno.EMFILE | errno.ENFILE:
            code = "failed"
            message = "too many files are open to start it; raise the limit (ulimit -n), or launch fewer servers"
        case errno.EAGAIN | errno.ENOMEM:
            code = "failed"
            message = f"the system cannot start another process ({reason})"
        case _:
            message = f'cannot run "{command}": {reason}'
    return CommandError(code, message)


def wrong_directory(cwd: str) -> CommandError | None:
    """Return what is wrong with the session's directory, if anything is."""
    try:
        if stat.S_ISDIR(os.stat(cwd).st_mode):
            return None
        wrong = "is a file"
    except PermissionError:
        wrong = "cannot be accessed"
    except OSError:
        wrong = "does not exist"
    # `invalid_spec` because the client must send another one.
    return CommandError("invalid_spec", f'the working directory {wrong}: "{cwd}"')


def _no_interpreter(path: str, command: str) -> str:
    """Return the message for an existing file whose interpreter or loader is missing."""
    head = _head(path)
    if not head.startswith(b"#!"):
        return f'"{command}" needs a loader that this system does not have; was it built for another system?'
    line = head.splitlines(keepends=True)[0]
    if line.endswith(b"\r\n"):
        return f'the first line of "{command}" ends with a Windows line ending (CR LF); save the file with LF'
    interpreter = line[2:].decode(errors="replace").split()
    return f'the interpreter in the first line of "{command}" does not exist: "{interpreter[0] if interpreter else ""}"'


def _no_format(path: str, command: str) -> str:
    head = _head(path)
    if head.startswith(b"\xef\xbb\xbf#!"):
        return f'"{command}" has a byte order mark before its "#!" line; save it without one'
    if head.isascii():
        return f'"{command}" is not a program; does it begin with a "#!" line?'
    return f'"{command}" is not a program for this kind of machine; was it built for another one?'


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(256)
    except OSError:
        return b""


async def spawn(spec: StdioServer, *, cwd: str, strict: bool = False) -> tuple[ChildProcess, str | None]:
    """Start the server's process in the session's directory and return it, with a warning about its command or None.

    Raises:
        LaunchFailure: in stage `spawn`; in stage `spec` if `strict` is set and the command is not absolute.
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

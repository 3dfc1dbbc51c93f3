"""Start the process of a server, or explain why the system did not start it."""

from __future__ import annotations

import errno
import os
import stat

from acp_bindings._processes.process import ChildProcess
from mcp_launch import _spawn_ahead as ahead
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._executable import CommandError, child_environment, resolve_command
from mcp_launch._spec import StdioServer
from mcp_launch.failures import OF_ACP, LaunchFailure, Phrases
from mcp_launch.report import Code


def explain_refusal(error: OSError, *, path: str, command: str, cwd: str) -> CommandError:
    """Return why starting the file at `path` raised this error."""
    if error.filename == cwd:
        message = f'the working directory cannot be accessed: "{cwd}"'
        return wrong_directory(cwd) or CommandError("invalid_spec", message, advice=_DIRECTORY)
    reason = error.strerror or str(error)
    code: Code = "not_executable"
    advice: str | None = None
    match error.errno:
        case errno.ENOENT:
            message, advice = _no_interpreter(path, command)
        case errno.ENOEXEC:
            message, advice = _no_format(path, command)
        case errno.E2BIG:
            code = "invalid_spec"
            advice = 'shorten its "args" or "env", for example by using a file'
            message = 'its "args" and "env" together are longer than the system allows'
        case errno.EMFILE | errno.ENFILE:
            code = "failed"
            advice = "raise the limit (ulimit -n), or launch fewer servers"
            message = f"too many files are open to start it; {advice}"
        case errno.EAGAIN | errno.ENOMEM:
            code = "failed"
            advice = FEWER
            message = f"the system cannot start another process ({reason})"
        case _:
            message = f'cannot run "{command}": {reason}'
    return CommandError(code, message, advice=advice)


FEWER = "launch fewer servers, or raise the limits for memory and processes"
_DIRECTORY = "use another working directory, or create this one. The server was not started"


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
    return CommandError("invalid_spec", f'the working directory {wrong}: "{cwd}"', advice=_DIRECTORY)


def _no_interpreter(path: str, command: str) -> tuple[str, str]:
    """Return what happened and the advice, for an existing file whose interpreter or loader is missing."""
    head = _head(path)
    if not head.startswith(b"#!"):
        advice = "was it built for another system?"
        return f'"{command}" needs a loader that this system does not have; {advice}', advice
    line = head.splitlines(keepends=True)[0]
    if line.endswith(b"\r\n"):
        advice = "save the file with LF"
        return f'the first line of "{command}" ends with a Windows line ending (CR LF); {advice}', advice
    interpreter = (line[2:].decode(errors="replace").split() or [""])[0]
    advice = f'install "{interpreter}", or correct the first line of the file'
    return f'the interpreter in the first line of "{command}" does not exist: "{interpreter}"', advice


def _no_format(path: str, command: str) -> tuple[str, str]:
    head = _head(path)
    if head.startswith(b"\xef\xbb\xbf#!"):
        advice = "save it without one"
        return f'"{command}" has a byte order mark before its "#!" line; {advice}', advice
    if head.isascii():
        advice = 'does it begin with a "#!" line?'
        return f'"{command}" is not a program; {advice}', advice
    message = f'"{command}" is not a program for this kind of machine; was it built for another one?'
    return message, "was it built for another kind of machine?"


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(256)
    except OSError:
        return b""


async def spawn(
    spec: StdioServer, *, cwd: str, strict: bool = False, phrases: Phrases = OF_ACP
) -> tuple[ChildProcess, str | None]:
    """Start the server's process in the session's directory and return it, with a warning about its command or None.

    Raises:
        LaunchFailure: in stage `spawn`; in stage `spec` if `strict` is set and the command is not absolute.
    """
    env = child_environment(spec.env)
    path = spec.command
    try:
        if wrong := wrong_directory(cwd):
            raise wrong
        path, warning = resolve_command(spec.command, cwd=cwd, env=env, strict=strict, phrases=phrases)
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
    facts = {"command": spec.command, "cwd": cwd, **({"edit": error.edit} if error.edit else {})}
    found = Diagnosis(error.code, str(error), facts, advice=error.advice)
    return found.failure(spec.name, stage=error.stage, hide=spec.redactor)

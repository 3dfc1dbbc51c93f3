"""Starts the process of a stdio server as its specification says, or says why it cannot be started."""

from __future__ import annotations

from acp_bindings._processes.process import ChildProcess
from mcp_launch.failures import LaunchFailure
from mcp_launch.processes import ahead
from mcp_launch.processes.command import CommandError, resolve_command
from mcp_launch.processes.env import child_environment
from mcp_launch.processes.refusal import explain_refusal, wrong_directory
from mcp_launch.specs import StdioServer

__all__ = ["spawn"]


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

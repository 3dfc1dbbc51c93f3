"""ACP v1 unstable: terminal. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings._model import AnsweredBy, Extensible, Response
from acp_bindings._types import Lenient, NullAsEmpty, UInt32, UInt64

from .common import EnvVariable, SessionId, TerminalId


class CreateTerminalRequest(Extensible, AnsweredBy["CreateTerminalResponse"]):
    """Request to create a new terminal and execute a command."""

    session_id: SessionId
    """The session ID for this request."""

    command: str
    """The command to execute."""

    args: NullAsEmpty[list[str]] = []
    """Array of command arguments."""

    env: NullAsEmpty[list[EnvVariable]] = []
    """Environment variables for the command."""

    cwd: str | None = None
    """Working directory for the command. Must be an absolute path."""

    output_byte_limit: UInt64 | None = None
    """Maximum number of output bytes to retain.

    When the limit is exceeded, the Client truncates from the beginning of the output to stay within the limit.

    The Client MUST ensure truncation happens at a character boundary to maintain valid string output, even if this
    means the retained output is slightly less than the specified limit.
    """


class CreateTerminalResponse(Response):
    """Response containing the ID of the created terminal."""

    terminal_id: TerminalId
    """The unique identifier for the created terminal."""


class KillTerminalRequest(Extensible, AnsweredBy["KillTerminalResponse"]):
    """Request to kill a terminal without releasing it."""

    session_id: SessionId
    """The session ID for this request."""

    terminal_id: TerminalId
    """The ID of the terminal to kill."""


class KillTerminalResponse(Response):
    """Response to `terminal/kill` method."""


class ReleaseTerminalRequest(Extensible, AnsweredBy["ReleaseTerminalResponse"]):
    """Request to release a terminal and free its resources."""

    session_id: SessionId
    """The session ID for this request."""

    terminal_id: TerminalId
    """The ID of the terminal to release."""


class ReleaseTerminalResponse(Response):
    """Response to terminal/release method."""


class TerminalExitStatus(Extensible):
    """Exit status of a terminal command."""

    exit_code: Lenient[UInt32 | None] = None
    """The process exit code (may be null if terminated by signal)."""

    signal: Lenient[str | None] = None
    """The signal that terminated the process (may be null if exited normally)."""


class TerminalOutputRequest(Extensible, AnsweredBy["TerminalOutputResponse"]):
    """Request to get the current output and status of a terminal."""

    session_id: SessionId
    """The session ID for this request."""

    terminal_id: TerminalId
    """The ID of the terminal to get output from."""


class TerminalOutputResponse(Response):
    """Response containing the terminal output and exit status."""

    output: str
    """The terminal output captured so far."""

    truncated: bool
    """Whether the output was truncated due to byte limits."""

    exit_status: Lenient[TerminalExitStatus | None] = None
    """Exit status if the command has completed."""


class WaitForTerminalExitRequest(Extensible, AnsweredBy["WaitForTerminalExitResponse"]):
    """Request to wait for a terminal command to exit."""

    session_id: SessionId
    """The session ID for this request."""

    terminal_id: TerminalId
    """The ID of the terminal to wait for."""


class WaitForTerminalExitResponse(Response):
    """Response containing the exit status of a terminal command."""

    exit_code: Lenient[UInt32 | None] = None
    """The process exit code (may be null if terminated by signal)."""

    signal: Lenient[str | None] = None
    """The signal that terminated the process (may be null if exited normally)."""

"""Runs a command on one server, and prints the log and progress of the server to standard error."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from acp_bindings._redact import Redactor
from mcp_launch._command.explore.asking import Answers, Asker
from mcp_launch._command.inputs import Session, Typed, choices
from mcp_launch._command.run import run
from mcp_launch._command.show.text import findings_of, harmless, print_findings, remark, remark_failure, remark_warnings
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch._spec import parse_server
from mcp_launch.failures import LaunchFailure, UnusableInput, did_you_mean
from mcp_launch.fleet import Fleet
from mcp_launch.logins import StoredLogins
from mcp_launch.options import Listing, Options
from mcp_launch.report import ServerReport

if TYPE_CHECKING:
    from mcp_types import LoggingMessageNotificationParams, Prompt, Tool
    from pydantic import BaseModel

Named = TypeVar("Named", "Tool", "Prompt")


def use_one(
    typed: Typed,
    session: Session,
    ready: Callable[[Opened], Awaitable[int]],
    *,
    lists: Collection[Listing],
    show_secrets: bool,
    answers: Answers,
    failed: Callable[[ServerReport], object] | None = None,
) -> int:
    """Start the server of a session and return the exit status: that of *ready*, or 1 if the server cannot be used.

    In that case the reason is printed, and *failed* is called. *answers* are those of --answer.
    """
    print_findings(findings_of([session]))
    hide = _redactor_of(session)
    notices = Notices(hide)
    asker = Asker(session.entries[0].name, notices.say, answers)

    async def use(fleets: Sequence[Fleet]) -> int:
        (fleet,) = fleets
        (server,), (report,) = fleet.servers, fleet.report["servers"]
        notices.warn(server)
        if server.failure:
            remark_failure(report)
            if failed:
                failed(report)
            return 1
        hide_result = Redactor() if show_secrets else hide
        opened = Opened(fleet=fleet, server=server, notices=notices, asker=asker, hide=hide, hide_result=hide_result)
        status = await ready(opened)
        notices.warn(server)
        return status

    options = Options(
        # A refreshed token is redacted in results too.
        auth=StoredLogins(learn=hide.learn),
        elicitation=asker.elicit,
        sampling=asker.sample,
        logging=notices.log,
        log_level="info",
        message=notices.notice_change,
    )
    return run(typed, [session], use, options=options, lists=lists)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A ready server, and what a command needs to use it."""

    fleet: Fleet
    """The fleet that contains only this server."""
    server: LaunchedServer
    notices: Notices
    asker: Asker
    """Answers what the server asks."""
    hide: Redactor
    """Redacts its secrets in everything that is shown."""
    hide_result: Redactor
    """Redacts its secrets in results, unless --show-secrets is given."""

    @property
    def name(self) -> str:
        """The name of the server in its file."""
        return self.server.name

    def find(self, kind: Literal["tool", "prompt"], name: str, listed: Sequence[Named]) -> Named:
        """Return the tool or prompt with this name, among those that the server listed."""
        for each in listed:
            if each.name == name:
                return each
        names = [each.name for each in listed]
        near = did_you_mean(name, names) or f"; {choices(names)}"
        raise UnusableInput(self.hide(f'{self.name}: no {kind} is called "{name}"{near}'))

    def why(self, error: Exception) -> str:
        """Return why a request failed, with the server's name. Secrets are not redacted yet."""
        why = str(error) or type(error).__name__
        # Our own errors begin with it already.
        return why if why.startswith(f"{self.name}: ") else f"{self.name}: {why}"


class Notices:
    """Prints what one server sends while it works, without its secrets, and notices changed lists."""

    def __init__(self, hide: Redactor) -> None:
        self._hide = hide
        self.has_change = False
        """True if the server has reported a changed list since the shell last listed."""
        self._warned = 0
        """The number of printed warnings."""

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Print the progress of a call; a `ProgressFnT` of the SDK."""
        of = f"/{total:g}" if total is not None else ""
        self.say(f"progress {progress:g}{of}{f': {message}' if message else ''}")

    def warn(self, server: LaunchedServer) -> None:
        """Print the warnings of the server that have arisen since the last time."""
        new = server.warnings[self._warned :]
        self._warned += len(new)
        remark_warnings(server.name, map(self._hide, new))

    def say(self, text: str) -> None:
        remark(harmless(self._hide(text)))

    def complain(self, text: str) -> None:
        self.say(f"mcp-launch: {text}")

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        """Print a log message; a `LoggingFnT` of the SDK."""
        data: Any = params.data
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        logger = f" {params.logger}" if params.logger else ""
        self.say(f"{params.level}{logger}: {text}")

    async def notice_change(self, message: Any) -> None:
        """Set `has_change` if a notification reports a changed list; a `MessageHandlerFnT` of the SDK."""
        if str(getattr(message, "method", "")).endswith("/list_changed"):
            self.has_change = True


def dumped(model: BaseModel) -> dict[str, Any]:
    """Return an object of MCP as the JSON that is sent."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _redactor_of(session: Session) -> Redactor:
    """Return the redactor of the only server, which redacts nothing if its entry is invalid."""
    (server,) = session.servers
    try:
        return replace(parse_server(server), secrets=tuple(session.secrets)).redactor
    except LaunchFailure:
        return Redactor()

"""Prints a server's log and progress to standard error, so that standard output has the answer alone."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from acp_bindings._redact import Redactor
from mcp_launch._command.inputs import Session, did_you_mean, there_are
from mcp_launch._command.run import run, settled, with_traffic
from mcp_launch._command.show.text import found_in, harmless, print_findings, remark, remark_failure, remark_warnings
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch._spec import parse_server
from mcp_launch.failures import InvalidResult, LaunchFailure, UnusableInput
from mcp_launch.fleet import Fleet
from mcp_launch.options import Listing, Options
from mcp_launch.report import ServerReport

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import LoggingMessageNotificationParams, Prompt, Tool


class Notices:
    """Prints what one server tells while it works, without its secrets."""

    def __init__(self, hide: Redactor, *, changed: Callable[[str], None] | None = None) -> None:
        self._hide = hide
        self._changed = changed

    @property
    def options(self) -> Options:
        """The options to launch the server with, so that its notices come here."""
        return Options(logging=self._log, log_level="info", message=self._message if self._changed else None)

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Print how far a call is; a `ProgressFnT` of the SDK."""
        of = f"/{total:g}" if total is not None else ""
        self.say(f"progress {progress:g}{of}{f': {message}' if message else ''}")

    def say(self, text: str) -> None:
        """Print a line or more."""
        remark(harmless(self._hide(text)))

    def complain(self, text: str) -> None:
        """Say why something cannot be done."""
        self.say(f"mcp-launch: {text}")

    async def _log(self, params: LoggingMessageNotificationParams) -> None:
        data: Any = params.data
        said = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        logger = f" {params.logger}" if params.logger else ""
        self.say(f"{params.level}{logger}: {said}")

    async def _message(self, message: Any) -> None:
        method = getattr(message, "method", None)
        if isinstance(method, str) and method.endswith("/list_changed") and self._changed:
            self._changed(method.split("/")[1])


Named = TypeVar("Named", "Tool", "Prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A server that is ready, and what a command needs to use it."""

    fleet: Fleet
    """The fleet of this one server."""
    server: LaunchedServer
    notices: Notices
    hide: Redactor
    """Removes its secrets from everything that is shown."""
    hide_result: Redactor
    """Removes its secrets from results: the same as `hide`, or nothing with --show-secrets."""

    @property
    def name(self) -> str:
        """Its name in the file."""
        return self.server.name

    @property
    def session(self) -> Client:
        """Its session.

        Raises:
            LaunchFailure: it has died meanwhile.
        """
        return self.server.session

    def find(self, kind: Literal["tool", "prompt"], name: str, listed: Sequence[Named]) -> Named:
        """The tool or prompt of that name, among those that the server has listed.

        Raises:
            UnusableInput: there is none.
        """
        for each in listed:
            if each.name == name:
                return each
        names = [each.name for each in listed]
        near = did_you_mean(name, names) or f"; {there_are(names)}"
        raise UnusableInput(self.hide(f'{self.name}: no {kind} is called "{name}"{near}'))

    def why(self, error: Exception) -> str:
        """Why a request has no answer, with the server's name in front; secrets are not removed yet."""
        if isinstance(error, LaunchFailure | InvalidResult):
            return str(error)
        return f"{self.name}: {str(error) or type(error).__name__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What a command does with its one server, as callbacks."""

    ready: Callable[[Opened], Awaitable[int]]
    """Uses the server and returns the exit status."""
    failed: Callable[[ServerReport], object] | None = None
    """Called instead of `ready` when the server cannot be used; standard error says why in any case."""
    changed: Callable[[str], None] | None = None
    """Called with `tools`, `resources` or `prompts` when the server says that this list has changed."""


def use_one(
    session: Session, use: Use, *, lists: Collection[Listing], timeout: float, verbose: bool, show_secrets: bool
) -> int:
    """Start the one server of a session and have it used; the exit status, which is 1 where it cannot be.

    Raises:
        UnusableInput: the directory is not absolute, or `use` raised it.
        SystemExit: a signal came; the server is gone.
    """
    print_findings(found_in(session.source, session.findings))
    (hide,) = redactors_of(session)
    notices = Notices(hide, changed=use.changed)
    options = with_traffic(notices.options) if verbose else notices.options
    main = partial(_main, use=use, notices=notices, hide=hide, show_secrets=show_secrets)
    return run([session], main, timeout=timeout, options=options, lists=lists)


async def _main(fleets: Sequence[Fleet], *, use: Use, notices: Notices, hide: Redactor, show_secrets: bool) -> int:
    (fleet,) = fleets
    await settled(fleets, quiet=True)
    (server,), (report,) = fleet.servers, fleet.report["servers"]
    remark_warnings(report)
    if server.failure:
        remark_failure(report)
        if use.failed:
            use.failed(report)
        return 1
    hide_result = Redactor() if show_secrets else hide
    return await use.ready(Opened(fleet=fleet, server=server, notices=notices, hide=hide, hide_result=hide_result))


def redactors_of(session: Session) -> list[Redactor]:
    """Return what removes the secrets of each server; it removes nothing where the entry cannot be read."""
    return [_redactor_of(server, session.secrets) for server in session.servers]


def _redactor_of(server: object, secrets: Sequence[str]) -> Redactor:
    try:
        return replace(parse_server(server), secrets=tuple(secrets)).redactor
    except LaunchFailure:
        return Redactor()

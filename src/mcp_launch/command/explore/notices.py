"""Prints a server's log and progress to standard error, so that standard output has the answer alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_bindings._redact import Redactor
from mcp_launch.command.show.text import harmless, remark
from mcp_launch.options import Options

if TYPE_CHECKING:
    from mcp_types import LoggingMessageNotificationParams

__all__ = ["Notices"]


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

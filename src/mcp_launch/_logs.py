"""What the libraries below log while a server is open, without that server's secrets.

httpx logs each URL with its query at level INFO, and the SDK logs bodies that it cannot read. Secrets are
removed when a record is made: a filter would have to be put on each logger by its name, and new releases bring new
names.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from acp_bindings._redact import Redactor

LIBRARIES = frozenset(
    (
        "anyio",
        "asyncio",
        "client",  # which the SDK's session calls itself
        "h11",
        "h2",
        "hpack",
        "httpcore",
        "httpcore2",
        "httpx",
        "httpx2",
        "httpx_sse",
        "mcp",
        "mcp_launch",
        "mcp_types",
        "opentelemetry",
        "trio",
        "truststore",
    )
)
"""The loggers from whose records secrets are removed, and from those of their children. All others are left alone."""

_open: list[Redactor] = []


@contextmanager
def kept_out_of_logs(redactor: Redactor) -> Generator[None]:
    """A block during which these secrets are replaced in what the libraries log, from whichever task."""
    factory = logging.getLogRecordFactory()
    if not isinstance(factory, _Redacting):
        # It is never taken out again: others may have put a factory of theirs around it meanwhile.
        logging.setLogRecordFactory(_Redacting(factory))
    _open.append(redactor)
    try:
        yield
    finally:
        _open.remove(redactor)


class _Redacting:
    """A factory that makes records as before, and removes the secrets from those of the libraries."""

    def __init__(self, factory: Callable[..., logging.LogRecord]) -> None:
        self._factory = factory

    def __call__(self, *args: Any, **options: Any) -> logging.LogRecord:
        record = self._factory(*args, **options)
        if _open and str(record.name).partition(".")[0] in LIBRARIES:
            _redact(record)
        return record


def _redact(record: logging.LogRecord) -> None:
    """Replace the secrets; a record without any stays as it is, arguments and exception too."""
    try:
        said = record.getMessage()
    except (TypeError, ValueError):
        # The handler would complain of it, and show the arguments.
        said = f"{record.msg} {record.args}"
    # Formatted here, because a handler would format the exception with whatever its text holds.
    trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    if (shown := _hidden(trace)) != trace:
        record.msg, record.args = f"{_hidden(said)}\n{shown}", None
        record.exc_info = record.exc_text = None
    elif (shown := _hidden(said)) != said:
        record.msg, record.args = shown, None


def _hidden(text: str) -> str:
    # A copy: other threads may log while servers open and close.
    for redactor in tuple(_open):
        text = redactor(text)
    return text

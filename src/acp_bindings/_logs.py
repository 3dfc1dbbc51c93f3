"""Redact the secrets of open servers and remote agents in what libraries log.

httpx logs each URL with its query at level INFO, and the SDK logs bodies that it cannot read. Secrets are removed when
a record is created, because a filter would have to be added to each logger by name, and new releases add names.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from acp_bindings._redact import Redactor

LIBRARIES = frozenset(
    (
        "acp_bindings",
        "anyio",
        "asyncio",
        "client",  # the name of the logger of the SDK's session
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
        "websockets",
    )
)
"""The loggers whose records, and those of their children, are redacted. Others are not changed."""

_open: list[Redactor] = []


@contextmanager
def kept_out_of_logs(redactor: Redactor) -> Generator[None]:
    """Redact these secrets in what libraries log while the block runs, in any task."""
    factory = logging.getLogRecordFactory()
    if not isinstance(factory, _Redacting):
        # It is never removed, because other code may have wrapped it meanwhile.
        logging.setLogRecordFactory(_Redacting(factory))
    _open.append(redactor)
    try:
        yield
    finally:
        _open.remove(redactor)


class _Redacting:
    """A log record factory that redacts the records of libraries."""

    def __init__(self, factory: Callable[..., logging.LogRecord]) -> None:
        self._factory = factory

    def __call__(self, *args: Any, **options: Any) -> logging.LogRecord:
        record = self._factory(*args, **options)
        if _open and str(record.name).partition(".")[0] in LIBRARIES:
            _redact(record)
        return record


def _redact(record: logging.LogRecord) -> None:
    """Replace the secrets. A record without secrets keeps its arguments and exception."""
    try:
        message = record.getMessage()
    except (TypeError, ValueError):
        # The handler would report the error and show the arguments.
        message = f"{record.msg} {record.args}"
    # Formatted here, because a handler would format the exception with its secrets.
    trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    if (shown := _hidden(trace)) != trace:
        record.msg, record.args = f"{_hidden(message)}\n{shown}", None
        record.exc_info = record.exc_text = None
    elif (shown := _hidden(message)) != message:
        record.msg, record.args = shown, None


def _hidden(text: str) -> str:
    # A copy, because other threads may log while servers open and close.
    for redactor in tuple(_open):
        text = redactor(text)
    return text

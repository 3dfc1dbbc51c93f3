"""What the HTTP libraries and the SDK log while a server is open, without that server's secrets.

httpx logs each URL with its query at level INFO, and the SDK logs bodies that it cannot read.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

from mcp_launch.redact import Redactor

__all__ = ["kept_out_of_logs"]

_LOGGERS = (
    "client",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpcore2.socks",
    "httpx",
    "httpx2",
    "mcp.client.client",
    "mcp.client.session",
    "mcp.client.streamable_http",
    "mcp.shared.jsonrpc_dispatcher",
)
"""A filter sees what is logged to its logger by name, not to the children of it."""

_open: list[Redactor] = []


@contextmanager
def kept_out_of_logs(redactor: Redactor) -> Generator[None]:
    """A block during which these secrets are replaced in what the libraries log, from whichever task."""
    for name in _LOGGERS:
        # Adding it again changes nothing.
        logging.getLogger(name).addFilter(_redact)
    _open.append(redactor)
    try:
        yield
    finally:
        _open.remove(redactor)


def _redact(record: logging.LogRecord) -> bool:
    if _open:
        text = record.getMessage()
        if record.exc_info:
            # Formatted here, because a handler would format the exception with whatever its text holds.
            text = f"{text}\n{logging.Formatter().formatException(record.exc_info)}"
            record.exc_info = record.exc_text = None
        for redactor in _open:
            text = redactor(text)
        record.msg, record.args = text, None
    return True

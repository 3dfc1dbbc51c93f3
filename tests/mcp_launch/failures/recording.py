"""Record all log records of every level, with all their attributes."""

from __future__ import annotations

import io
import logging
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["everything_logged"]


@contextmanager
def everything_logged() -> Generator[io.StringIO]:
    """Set every logger to its lowest level until the block ends, and yield their output."""
    text = io.StringIO()
    handler = _Handler(text)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    known = [logger for logger in logging.Logger.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    levels = [(logger, logger.level) for logger in (root, *known)]
    for logger, _ in levels:
        logger.setLevel(1)
    # Those that keep what they log from the root get the handler too.
    listened = [root, *(logger for logger in known if not logger.propagate)]
    for logger in listened:
        logger.addHandler(handler)
    try:
        yield text
    finally:
        for logger in listened:
            logger.removeHandler(handler)
        for logger, level in levels:
            logger.setLevel(level)


class _Handler(logging.StreamHandler[io.StringIO]):
    def format(self, record: logging.LogRecord) -> str:
        # A handler that writes JSON would write the arguments, too.
        return f"{super().format(record)} {record.args!r} {vars(record)!r}"

"""The log and progress of servers."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp_types import LoggingMessageNotificationParams

from acp_bindings._redact import Redactor
from mcp_launch._command.explore.opened import Notices
from tests.mcp_launch.support import SECRET


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((1.0, 2.0, f"half of {SECRET}"), "progress 1/2: half of [redacted]\n"),
        ((0.5, None, None), "progress 0.5\n"),
        ((0.0, 0.0, ""), "progress 0/0\n"),
    ],
)
def test_progress_is_printed_as_reported(
    told: tuple[float, float | None, str | None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(Notices(Redactor([SECRET])).progress, *told)

    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("logger", "data", "said"),
    [
        (None, f"it has {SECRET}", "info: it has [redacted]\n"),
        ("db", {"größe": [1]}, 'info db: {"größe": [1]}\n'),
    ],
)
def test_a_log_message_is_printed_with_its_logger(
    logger: str | None, data: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log: Any = Notices(Redactor([SECRET])).log

    anyio.run(log, LoggingMessageNotificationParams(level="info", logger=logger, data=data))

    assert capsys.readouterr().err == said

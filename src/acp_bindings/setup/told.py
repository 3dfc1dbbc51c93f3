"""The issues that a peer, answering with an error, has put into its data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_bindings._json.shapes import items_of, members_of
from acp_bindings._problems.few import few
from acp_bindings.errors import Issue
from acp_bindings.setup.shown import one_line


def told_in(data: object) -> str:
    """`: mcpServers[0].headers: Field required`, where *data* has issues as this package answers with; else nothing.

    Nothing else of *data* is shown: nobody knows what a peer puts there.
    """
    told = few([one_line(str(issue)) for issue in _issues(data)])
    return f": {told}" if told else ""


def _issues(data: object) -> Iterator[Issue]:
    for each in items_of(members_of(data).get("issues")):
        match each:
            case {"path": list(), "rule": str(rule), "message": str(message)}:
                path: list[Any] = each["path"]
                if all(type(step) in (str, int) for step in path):
                    yield Issue(tuple(path), rule, message)
            case _:
                pass

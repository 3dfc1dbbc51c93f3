"""Reads the file of --answer before the server is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any, TypeAlias

from mcp_launch._command.find_servers import text_of
from mcp_launch._json_values import as_items, as_members
from mcp_launch.failures import UnusableInput

Answers: TypeAlias = Mapping[str, Iterator[Any]]
"""The answers to `elicitation` and to `sampling`."""


def answers_in(file: str | None) -> Answers:
    """Return the answers in a file: for each kind one answer to all questions, or a list in the order of use.

    Raises:
        UnusableInput: the file cannot be read, or has another form.
    """
    value: Any = {}
    if file is not None:
        # Imported late: few calls need it.
        from mcp_launch._command.explore.arguments import WrongArguments, json_value  # noqa: PLC0415

        try:
            value = json_value(text_of(file), called=f"--answer {file}")
        except WrongArguments as wrong:
            raise UnusableInput(str(wrong)) from None
    if not isinstance(value, dict) or as_members(value).keys() - {"elicitation", "sampling"}:
        raise UnusableInput(f'--answer {file}: must be an object with "elicitation", "sampling", or both')
    answers: dict[str, Any] = {"elicitation": [], "sampling": [], **as_members(value)}
    return {kind: iter(as_items(each)) if isinstance(each, list) else repeat(each) for kind, each in answers.items()}

"""Reads a text as JSON, JSON with comments, JSONC or YAML, and keeps where each of its values stands."""

from __future__ import annotations

from typing import Literal, TypeAlias

from mcp_launch.config.json_text import read_json
from mcp_launch.config.places import Document

__all__ = ["Grammar", "read_document"]

Grammar: TypeAlias = Literal["json", "json with comments", "jsonc", "yaml"]
"""What a client reads; JSONC has trailing commas too."""


def read_document(text: str, *, source: str, grammar: Grammar = "json") -> Document:
    """Read a text; `source` is what to call it in errors.

    Raises:
        UnusableInput: it is not what the grammar wants, a name occurs twice in one object, or it is nested too deep.
            The message begins with `source:line:column`, both counted from 1 in characters.
    """
    text = text.removeprefix("\ufeff")
    if grammar != "yaml":
        return read_json(text, source=source, comments=grammar != "json", trailing_commas=grammar == "jsonc")
    # Imported late: it takes time, and most files are JSON.
    from mcp_launch.config.yaml_text import read_yaml  # noqa: PLC0415

    return read_yaml(text, source=source)

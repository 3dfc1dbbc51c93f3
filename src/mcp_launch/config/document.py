"""A text as JSON, and where each of its values stands, by the grammar that a client reads."""

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
    # Only here: most files are JSON, and a command that starts at once does not load what it does not need.
    from mcp_launch.config.yaml_text import read_yaml  # noqa: PLC0415

    return read_yaml(text, source=source)

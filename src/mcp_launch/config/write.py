"""Writes a config as the file of a client, and notes what that client cannot express."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

from mcp_launch.config.entries import Config, Finding
from mcp_launch.config.formats import format_called
from mcp_launch.config.formats.format import Writing

__all__ = ["write_config"]


def write_config(config: Config, format: str) -> tuple[str, list[Finding]]:  # noqa: A002 - the word of the command line
    """The text of a file for the client, and what it cannot say, placed in the file that the config is from.

    References stay references, in the way of the client; secrets stay where they stand.

    Raises:
        UnusableInput: there is no such format, or two servers have the same name, which only ACP can say.
    """
    target = format_called(format)
    writing = Writing(config)
    value = target.write(writing)
    text = _yaml(value) if target.grammar == "yaml" else _json(value)
    return text, sorted(writing.findings, key=lambda found: found.place)


def _json(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair: JSON can escape it, but UTF-8 cannot hold it.
        text = json.dumps(value, indent=2)
    return f"{text}\n"


def _yaml(value: Any) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - most files are JSON

    writer: Any = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False
    writer.allow_unicode = True
    writer.width = 1_000_000
    written = StringIO()
    writer.dump(value, written)
    return written.getvalue()

"""The JSON schema of a report, printed from the file beside this one; `python -m mcp_launch._command.schema` writes it.

It is kept in a file because making it loads pydantic, which takes longer than a command should.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from mcp_launch._command.show.text import write
from mcp_launch.report import check_schema

FILE = files("mcp_launch._command") / "report.schema.json"


def print_schema() -> None:
    """Print the JSON schema of a report.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    write(FILE.read_text(encoding="utf-8").rstrip())


def schema_text() -> str:
    """What the file is to hold."""
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **check_schema()}, indent=2) + "\n"


if __name__ == "__main__":
    Path(str(FILE)).write_text(schema_text(), encoding="utf-8")

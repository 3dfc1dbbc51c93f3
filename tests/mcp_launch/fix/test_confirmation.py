"""At a terminal, fix asks before it starts what the file does not name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("there is no pty on Windows", allow_module_level=True)

from tests.mcp_launch.terminal import terminal


@pytest.mark.parametrize(("key", "status"), [(b"y\n", 0), (b"\n", 1)])
def test_a_person_confirms_what_the_file_does_not_name(key: bytes, status: int, folder: Path) -> None:
    file = folder / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": {"command": "uvx", "args": ["mcp-server-tme"]}}}))
    with terminal("fix", str(file), columns=200, TERM="dumb") as shown:
        shown.see("the PyPI package mcp-server-time: start the PyPI package mcp-server-time with uvx")
        shown.see("Try them? [y/N]")
        shown.type(key)
        assert shown.status() == status

    assert ("fixed" in shown.shown) is (status == 0)

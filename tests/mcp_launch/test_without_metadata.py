"""The packages without the metadata of pip, as in a frozen program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.mcp_launch.support import run_python

UNKNOWN = """
import importlib.metadata as metadata

installed = metadata.distribution

def but_ours(name):
    if name == "acp-bindings":
        raise metadata.PackageNotFoundError(name)
    return installed(name)

metadata.distribution = but_ours
"""


@pytest.mark.parametrize(("package", "command"), [("acp_bindings", "acp-bindings"), ("mcp_launch", "mcp-launch")])
def test_an_unknown_version_is_shown_as_unknown(package: str, command: str) -> None:
    done = run_python("-c", f"{UNKNOWN}\nfrom {package}.__main__ import main\nmain()", "--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{command} unknown\n", "")


def test_servers_are_checked_without_version_metadata(tmp_path: Path) -> None:
    server = '{"mcpServers": {"it": {"command": "%s", "args": ["-S", "%s", "works"]}}}'
    page = tmp_path / "page.html"
    code = f"{UNKNOWN}\nfrom mcp_launch.__main__ import main\nmain()"
    plain = Path(__file__).parent / "servers" / "plain.py"

    done = run_python("-c", code, "check", "-", "--html", str(page), stdin=server % (sys.executable, plain))

    assert (done.returncode, done.stderr) == (0, "")
    assert "<code>mcp-launch</code> unknown on" in page.read_text(encoding="utf-8")

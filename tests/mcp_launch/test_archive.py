"""The packages in a zip archive, and without the metadata of pip."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp_launch.support import SOURCE, run_python

UNKNOWN = """
import importlib.metadata as metadata

installed = metadata.distribution

def but_ours(name):
    if name == "acp-bindings":
        raise metadata.PackageNotFoundError(name)
    return installed(name)

metadata.distribution = but_ours
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Put both packages in a zip file from which Python imports."""
    return Path(shutil.make_archive(str(tmp_path_factory.mktemp("zipped") / "packages"), "zip", SOURCE))


def from_archive(archive: Path, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run_python(*args, stdin=stdin, PYTHONPATH=str(archive))


def test_the_schema_of_a_report_is_printed_from_an_archive(archive: Path) -> None:
    done = from_archive(archive, "-m", "mcp_launch", "schema")

    assert (done.returncode, done.stdout, done.stderr) == (0, run_python("-m", "mcp_launch", "schema").stdout, "")


def test_a_relay_in_an_archive_is_refused(archive: Path) -> None:
    code = """
import anyio, mcp_launch
from mcp.server import MCPServer

async def main():
    for transport in ("http", "stdio"):
        try:
            async with mcp_launch.serve_local(MCPServer("own"), transport=transport) as local:
                print(local.transport)
        except mcp_launch.UnusableInput as error:
            print(error)

anyio.run(main)
"""
    done = from_archive(archive, "-c", code)

    said = "over stdio the agent must run a file of this package, but the package is in an archive; use http"
    assert done.stdout.splitlines() == ["http", said]


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

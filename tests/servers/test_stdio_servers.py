"""Widely used servers, started as their documentation says: by npm's scripts, by npx and by pip's scripts."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.context import ClientRequestContext
from mcp_types import AudioContent, ImageContent, ListRootsResult, Root

import mcp_launch
from mcp_launch import Options
from tests.mcp_launch.support import Marked, ask
from tests.servers.installed import FOLDER, by_npx, from_npm, from_pypi

pytestmark = [
    pytest.mark.anyio,
    # See test_everything.
    pytest.mark.filterwarnings("ignore:Exception ignored in. <async_generator:pytest.PytestUnraisableExceptionWarning"),
]

# Only the names of the files matter.
PICTURE = b"\x89PNG\r\n\x1a\nand so on"
SOUND = b"RIFFand so on"


async def test_files_are_written_and_read_with_their_types(marked: Marked, tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PICTURE)
    (tmp_path / "silence.wav").write_bytes(SOUND)

    with anyio.fail_after(30):
        async with mcp_launch.open_session(from_npm(marked, "filesystem", tmp_path), cwd=tmp_path) as session:
            note = str(tmp_path / "note.txt")
            await ask(session, "write_file", path=note, content="naïve 🙂\n")
            read = await ask(session, "read_text_file", path=note)
            listed = await ask(session, "list_directory", path=str(tmp_path))
            image = await session.call_tool("read_media_file", {"path": str(tmp_path / "dot.png")})
            audio = await session.call_tool("read_media_file", {"path": str(tmp_path / "silence.wav")})
            outside = await session.call_tool("read_text_file", {"path": "/etc/passwd"})

    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "naïve 🙂\n"
    assert read == "naïve 🙂\n"
    assert listed.splitlines() == ["[FILE] dot.png", "[FILE] note.txt", "[FILE] silence.wav"]
    assert image.content == [ImageContent(data=base64.b64encode(PICTURE).decode(), mime_type="image/png")]
    assert audio.content == [AudioContent(data=base64.b64encode(SOUND).decode(), mime_type="audio/wav")]
    assert outside.is_error


async def test_the_allowed_directories_come_from_the_roots(marked: Marked, tmp_path: Path) -> None:
    asked = anyio.Event()

    async def roots(context: ClientRequestContext) -> ListRootsResult:
        asked.set()
        return ListRootsResult(roots=[Root(uri=tmp_path.as_uri())])  # type: ignore[arg-type]

    with anyio.fail_after(30):
        server = from_npm(marked, "filesystem")
        async with mcp_launch.open_session(server, cwd=tmp_path, options=Options(roots=roots)) as session:
            await asked.wait()
            allowed = ""
            while str(tmp_path) not in allowed:
                # It responds to requests before it has processed the roots.
                allowed = await ask(session, "list_allowed_directories")

    assert allowed.splitlines() == ["Allowed directories:", str(tmp_path)]


async def test_stored_data_is_available_after_a_restart(marked: Marked, tmp_path: Path) -> None:
    server = from_npm(marked, "memory")
    server["env"].append({"name": "MEMORY_FILE_PATH", "value": str(tmp_path / "memory.jsonl")})
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}

    with anyio.fail_after(30):
        async with mcp_launch.open_session(server, cwd=tmp_path) as session:
            await ask(session, "create_entities", entities=[ada])
        async with mcp_launch.open_session(server, cwd=tmp_path) as session:
            graph = await session.call_tool("read_graph", {})

    assert graph.structured_content == {"entities": [ada], "relations": []}


async def test_the_environment_contains_only_needed_variables(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_TOKEN", "not for servers")

    with anyio.fail_after(30):
        async with mcp_launch.open_session(from_npm(marked, "everything"), cwd=tmp_path) as session:
            environment = await ask(session, "get-env")

    assert environment["MCP_LAUNCH_TEST"] == marked.mark
    assert "OUR_TOKEN" not in environment


@pytest.mark.parametrize("name", ["time", "git"])
async def test_servers_in_python_speak_the_newer_era(marked: Marked, tmp_path: Path, name: str) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    question = {
        "time": ("convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
        "git": ("git_status", {"repo_path": str(tmp_path)}),
    }
    (tmp_path / "new.txt").touch()

    with anyio.fail_after(30):
        async with mcp_launch.launch([from_pypi(marked, name)], cwd=tmp_path) as fleet:
            tool, arguments = question[name]
            answer = await fleet[name].session.call_tool(tool, arguments)
            [told] = fleet.report["servers"]

    assert told["protocol_version"] == "2026-07-28"
    assert {"time": "21:00", "git": "new.txt"}[name] in str(answer.content)
    assert not answer.is_error


async def test_npx_a_shell_and_the_server_are_all_ended(marked: Marked) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.open_session(by_npx(marked), cwd=FOLDER) as session:
            assert await ask(session, "echo", message="through npx") == "Echo: through npx"
            running = [_command(pid) for pid in marked.running()]

    assert len(running) == 3, running
    assert marked.running() == []


async def test_a_server_that_outlives_npx_works_and_is_ended(marked: Marked) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.open_session(by_npx(marked), cwd=FOLDER) as session:
            [npx] = [pid for pid in marked.running() if _parent(pid) == os.getpid()]
            os.kill(npx, signal.SIGKILL)
            assert await ask(session, "echo", message="without npx") == "Echo: without npx"
            running = marked.running()

    assert running
    assert npx not in running
    assert marked.running() == []


async def test_a_package_that_npx_does_not_find_is_reported(marked: Marked, tmp_path: Path) -> None:
    server = by_npx(marked)
    # Offline, so that no test requests a package from the registry that could be published one day.
    server["args"] = ["--offline", "-y", "@modelcontextprotocol/server-evrything"]

    with anyio.fail_after(30):
        async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
            failure = fleet["everything"].failure

    assert failure
    assert (failure.code, failure.stage) == ("exited", "handshake")
    assert failure.facts["exit_code"] == 1
    assert "server-evrything" in str(failure.facts["stderr"])


async def test_a_missing_directory_is_reported(marked: Marked, tmp_path: Path) -> None:
    with anyio.fail_after(30):
        server = from_npm(marked, "filesystem", tmp_path / "missing")
        async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
            failure = fleet["filesystem"].failure

    assert failure
    assert (failure.code, failure.facts["exit_code"]) == ("exited", 1)
    assert f"the directory {tmp_path / 'missing'} cannot be accessed" in str(failure)


async def test_all_of_them_run_side_by_side(
    marked: Marked, web_servers: dict[str, dict[str, Any]], show: Callable[[object], None], tmp_path: Path
) -> None:
    servers = [
        from_npm(marked, "everything"),
        by_npx(marked) | {"name": "by npx"},
        web_servers["http"] | {"name": "web"},
        web_servers["sse"] | {"name": "events"},
        from_npm(marked, "filesystem", tmp_path),
        from_npm(marked, "memory"),
        from_pypi(marked, "time"),
        from_pypi(marked, "git"),
    ]

    with anyio.fail_after(60):
        async with mcp_launch.launch(servers, cwd=FOLDER) as fleet:
            show(fleet.report)
            versions = {each["name"]: each["protocol_version"] for each in fleet.report["servers"]}
            async with anyio.create_task_group() as calls:
                for name in ("everything", "by npx", "web", "events"):
                    for _ in range(5):
                        calls.start_soon(_echo, fleet[name].session)

    assert fleet.failures == []
    assert versions == dict.fromkeys(
        ("everything", "by npx", "web", "events", "filesystem", "memory"), "2025-11-25"
    ) | {
        "time": "2026-07-28",
        "git": "2026-07-28",
    }
    assert {server.state for server in fleet} == {"closed"}


async def _echo(session: Any) -> None:
    assert await ask(session, "echo", message="side by side") == "Echo: side by side"


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

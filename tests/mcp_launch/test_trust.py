"""Files of a project do not start anything until the user confirms it, and `--list` never starts anything."""

from __future__ import annotations

import io
import json
import operator
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mcp_launch._command import trust
from mcp_launch._command.inputs import Session
from mcp_launch._command.show.text import has_terminal
from mcp_launch.config._documents import Place
from mcp_launch.config._entries import Entry
from tests.mcp_launch.here import run_here
from tests.mcp_launch.support import SECRET, SERVERS

if sys.platform == "win32":
    pytest.skip("the servers are scripts of a shell", allow_module_level=True)

from tests.mcp_launch.terminal import terminal

NEEDS_TRUST = "belongs to the project; use --list to see its servers, or --trust to start them"


class Project:
    """A project and a home directory. Each contains a file with a server that leaves a trace when it starts."""

    def __init__(self, folder: Path) -> None:
        self.path, self.home = folder / "project", folder / "home"
        self.file, self.own = self.path / ".mcp.json", self.home / ".claude.json"
        self.env: dict[str, Any] = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "USERPROFILE"), str(self.home))
        self.discover = ("--discover", "--workspace", str(self.path))
        for file in (self.file, self.own):
            file.parent.mkdir()
            self.write(file, stranger=self.server(file.name))

    def server(self, name: str) -> dict[str, Any]:
        """Return a server that first touches a file."""
        script = f'touch "{self.home}/started{name}"; exec "{sys.executable}" -S "{SERVERS / "plain.py"}" works'
        return {"command": "/bin/sh", "args": ["-c", script]}

    @staticmethod
    def write(file: Path, **servers: dict[str, Any]) -> None:
        file.write_text(json.dumps({"mcpServers": servers}))

    @property
    def started(self) -> set[str]:
        """The names of the files with a server that was started."""
        return {each.name.removeprefix("started") for each in self.home.glob("started*")}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command without a terminal."""
        return run_here(*words, **self.env)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize("command", ["check", "tools", "resources", "prompts"])
def test_servers_of_the_project_are_not_started_without_trust(command: str, project: Project) -> None:
    done = project.run(command, *project.discover)

    assert done.returncode == 2
    assert done.stderr == f"mcp-launch: {project.file}: {NEEDS_TRUST}\n"
    assert project.started == ({".claude.json"} if command == "check" else set())


@pytest.mark.parametrize("command", ["check", "tools"])
def test_servers_of_the_project_are_started_with_trust(command: str, project: Project) -> None:
    done = project.run(command, *project.discover, "--trust")

    assert (done.returncode, done.stderr) == (0, "")
    assert project.started == {".mcp.json", ".claude.json"}


def test_untrusted_servers_are_reported_as_unusable(project: Project) -> None:
    done = project.run("check", *project.discover, "--json")

    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"], report["unusable"]) == (2, False, [f"{project.file}: {NEEDS_TRUST}"])
    assert [each["state"] for each in report["servers"]] == ["ready"]
    assert project.started == {".claude.json"}


def test_nothing_is_started_if_only_the_project_has_servers(project: Project) -> None:
    project.own.unlink()
    url = {"type": "http", "url": "http://127.0.0.1:9/${HOME}"}
    (project.path / ".cursor").mkdir()
    project.write(project.path / ".cursor" / "mcp.json", web=url)

    done = project.run("check", *project.discover)

    files = [project.file, project.path / ".cursor" / "mcp.json"]
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "".join(f"mcp-launch: {file}: {NEEDS_TRUST}\n" for file in files)
    assert project.started == set()


def test_servers_that_only_leaves_out_need_no_trust(project: Project) -> None:
    project.write(project.own, mine=project.server("mine"))

    done = project.run("check", *project.discover, "--only", "mine")

    assert (done.returncode, project.started) == (0, {"mine"})


def test_a_file_named_on_the_command_line_needs_no_trust(project: Project) -> None:
    project.own.unlink()

    done = project.run("check", str(project.file), *project.discover)

    assert (done.returncode, done.stderr, project.started) == (0, "", {".mcp.json"})


def test_a_project_in_the_home_directory_is_the_users(project: Project) -> None:
    (project.home / ".cursor").mkdir()
    project.write(project.home / ".cursor" / "mcp.json", cursor=project.server("cursor"))

    done = project.run("check", "--discover", "--workspace", str(project.home))

    assert (done.returncode, project.started) == (0, {".claude.json", "cursor"})


def test_a_user_at_a_terminal_is_asked_before_servers_are_started(project: Project) -> None:
    everything = {".mcp.json", ".claude.json"}
    for answer, status, started in (("n", 2, set[str]()), ("", 2, set[str]()), ("yes", 0, everything)):
        with terminal("tools", *project.discover, columns=400, TERM="dumb", **project.env) as shown:
            shown.see(f"{project.file}:1:17: {project.file}:stranger: stdio: /bin/sh -c")
            shown.see("Start them? [y/N] ")
            assert project.started == set()
            shown.type(f"{answer}\n".encode())
            assert shown.status() == status

        assert project.started == started
        assert (f"mcp-launch: {project.file}: not confirmed" in shown.shown) is (status == 2)


def test_ctrl_c_at_the_question_starts_nothing(project: Project) -> None:
    with terminal("check", *project.discover, columns=400, TERM="dumb", **project.env) as shown:
        shown.see("Start them? [y/N] ")
        shown.type(b"\x03")
        assert shown.status() == 130

    assert project.started == set()
    assert "Traceback" not in shown.shown


def test_watching_asks_again_only_if_the_servers_of_the_project_change(project: Project) -> None:
    watched = ("check", *project.discover, "--watch")
    with terminal(*watched, columns=400, TERM="dumb", **project.env) as shown:
        shown.see("Start them? [y/N] ")
        shown.type(b"y\n")
        shown.see("press Ctrl-C to stop")
        project.write(project.own, other=project.server("other"))
        shown.see("press Ctrl-C to stop")
        assert shown.shown.count("Start them?") == 1
        project.write(project.file, stranger=project.server("changed"))
        shown.see("Start them? [y/N] ")
        shown.type(b"n\n")
        shown.see("press Ctrl-C to stop")
        shown.type(b"\x03")
        assert shown.status() == 130

    assert project.started == {".mcp.json", ".claude.json", "other"}


@pytest.mark.parametrize("change", [{"source": "other.json"}, {"cwd": "/other"}], ids=["file", "directory"])
def test_a_confirmed_server_is_asked_about_again_elsewhere(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def confirmed(_: str, lines: Iterable[str], __: str) -> bool:
        asked.extend(lines)
        return True

    monkeypatch.setattr(trust, "_trusted", set[str]())
    monkeypatch.setattr(trust, "has_terminal", lambda: True)
    monkeypatch.setattr(trust, "confirmed", confirmed)
    server = {"name": "x", "command": "/x"}
    entry = Entry(name="x", server=server, place=Place(1, 1), written=server)
    session = Session(source=".mcp.json", entries=[entry], cwd="/", origin="project")

    for each in (session, session, replace(session, **change)):
        assert trust.trusted([each]) == [each]

    assert len(asked) == 2


@pytest.mark.parametrize("piped", ["stdin", "stderr"])
def test_a_pipe_is_not_a_terminal_for_the_answer(piped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stderr"):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", partial(operator.ne, name, piped))
        monkeypatch.setattr(sys, name, stream)

    assert not has_terminal()


LISTED = {
    "files": {
        "command": "npx",
        "args": ["-y", "files mcp", "${ROOT:-/srv}", "--token", SECRET, f"--api-key={SECRET}"],
        "env": {"KEY": SECRET, "PASSED": "${PASSED}"},
    },
    "web": {
        "type": "http",
        "url": f"https://me:{SECRET}@h.example/${{PATH_KEY}}/mcp?key=${{QUERY_KEY}}",
        "headers": {"Authorization": f"Bearer {SECRET}"},
    },
}


def test_the_list_shows_entries_as_they_are_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": LISTED}))
    variables = {"ROOT": SECRET, "PASSED": SECRET, "PATH_KEY": SECRET, "QUERY_KEY": SECRET}

    done = run_here("check", "--list", str(file), "--", "sh", "-c", "exit", **variables)

    column = file.read_text().index('"web"') + 1
    npx = "npx -y 'files mcp' '${ROOT:-/srv}' --token '…' '--api-key=…'"
    url = "https://h.example/${PATH_KEY}/mcp?…"
    sh = next(each for each in ("/usr/bin/sh", "/bin/sh") if each in done.stdout)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"{file}:1:17: files: stdio: {npx} [env: KEY, PASSED] [variables: ROOT, PASSED]",
        f"{file}:1:{column}: web: http: {url} [headers: Authorization] [variables: PATH_KEY, QUERY_KEY]",
        f"--: sh: stdio: {sh} -c exit",
    ]
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (f"npx -y 'files mcp' --api-key {SECRET}", "'npx -y files mcp --api-key …'"),
        (f"API_KEY={SECRET} npx", "'… npx'"),
        ("npx -y 'files mcp'", """'npx -y '"'"'files mcp'"'"''"""),
    ],
)
def test_the_list_masks_secrets_in_a_command_that_contains_its_arguments(
    given: str, shown: str, tmp_path: Path
) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"files": {"command": given}}}))

    done = run_here("check", "--list", str(file))

    assert (done.returncode, done.stdout) == (0, f"{file}:1:17: files: stdio: {shown}\n")


def test_the_list_with_json_is_a_single_document(tmp_path: Path) -> None:
    file, broken = tmp_path / ".mcp.json", tmp_path / "broken.json"
    file.write_text(json.dumps({"mcpServers": {**LISTED, "odd": 3}}))
    broken.write_text("{")

    done = run_here("check", "--list", "--json", str(file), str(broken), "http://h.example/x?y")

    document = json.loads(done.stdout)
    files, web, odd, typed = document["servers"]
    assert (done.returncode, document["ok"], len(document["unusable"])) == (2, False, 1)
    assert [each["server"] for each in document["findings"]] == ["files", "web", "web", "odd"]
    assert files == {
        "name": "files",
        "transport": "stdio",
        "command": ["npx", "-y", "files mcp", "${ROOT:-/srv}", "--token", "…", "--api-key=…"],
        "url": None,
        "cwd": str(tmp_path),
        "env": ["KEY", "PASSED"],
        "headers": [],
        "variables": ["ROOT", "PASSED"],
        "source": str(file),
        "line": 1,
        "column": 17,
        "needs_trust": False,
    }
    assert (web["command"], web["url"]) == (None, "https://h.example/${PATH_KEY}/mcp?…")
    assert (odd["transport"], odd["command"], odd["url"]) == (None, None, None)
    assert (typed["url"], typed["line"], typed["column"]) == ("http://h.example/x?…", None, None)
    assert SECRET not in done.stdout + done.stderr


def test_the_list_of_a_project_starts_nothing_and_marks_untrusted_servers(project: Project) -> None:
    done = project.run("check", "--list", *project.discover)

    first, second = done.stdout.splitlines()
    assert (done.returncode, done.stderr, project.started) == (0, "", set())
    assert first.startswith(f"{project.file}:1:17: {project.file}:stranger: stdio: /bin/sh -c")
    assert (first.endswith("[needs: --trust]"), second.endswith("[needs: --trust]")) == (True, False)


@pytest.mark.parametrize(
    "option", [("--junit", "junit.xml"), ("--html", "page.html"), ("--watch",)], ids=lambda each: each[0]
)
def test_a_list_cannot_be_written_as_a_report(option: tuple[str, ...], project: Project) -> None:
    done = project.run("check", str(project.file), "--list", *option)

    told = f"mcp-launch: --list starts nothing and cannot be combined with {option[0]}\n"
    assert (done.returncode, done.stderr, project.started) == (2, told, set())

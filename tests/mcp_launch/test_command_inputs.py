"""The arguments and files that select servers on the command line."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_launch import UnusableInput
from mcp_launch._command.find_servers import read_inputs
from mcp_launch._command.inputs import Session, Typed
from mcp_launch.config import Entry, Place
from mcp_launch.failures import Phrases
from tests.mcp_launch.support import SECRET


def entry(name: str) -> dict[str, Any]:
    return {"name": name, "command": "/bin/true", "args": [], "env": []}


def written(folder: Path, file: str, *names: str) -> str:
    """Write a file with these servers."""
    path = folder / file
    path.write_text(json.dumps([entry(name) for name in names]))
    return str(path)


def names(sessions: list[Session]) -> list[list[str]]:
    return [[server["name"] for server in session.servers] for session in sessions]


def test_a_command_is_a_server_that_is_started_as_a_shell_would() -> None:
    (session,) = read_inputs(Typed(command=["sh", "-c", "exit"], env=["A=b=c"]))

    assert session.servers == [
        {"name": "sh", "command": shutil.which("sh"), "args": ["-c", "exit"], "env": [{"name": "A", "value": "b=c"}]}
    ]
    assert session.cwd == os.getcwd()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/opt/bin/weather", "weather"),
        ("./server.sh --port 1", "server"),
        ("npx -y @modelcontextprotocol/server-everything@1.2.3", "server-everything"),
        ("npx -y some-server --flag", "some-server"),
        ("npm exec -- some-server --flag", "some-server"),
        ("uvx mcp-server-git", "mcp-server-git"),
        ("uvx awslabs.docs-server==1.2.3", "awslabs.docs-server"),
        ("uvx --from weather[all]>=1,<2 tool", "weather"),
        ("uvx --with mcp<2 mcp-server-sentry", "mcp-server-sentry"),
        ("uvx --python 3.12 postgres-mcp", "postgres-mcp"),
        ("uvx --index-url https://x.example/simple foo-mcp", "foo-mcp"),
        ("npx -y --registry https://r.example/ foo-mcp", "foo-mcp"),
        ("npx -y -p node@22 -p @salesforce/mcp sf-mcp-server", "sf-mcp-server"),
        ("docker run -i --rm -e TOKEN -v /a:/b --platform linux/amd64 ghcr.io/a/weather", "weather"),
        ("uv run tools/clock.py", "clock"),
        ("uv run --python 3.12 --with-requirements req.txt server.py", "server"),
        ("node --env-file .env server.js", "server"),
        ("python -X utf8 server.py", "server"),
        (f"{sys.executable} -m weather.server", "weather.server"),
        ("node", "node"),
        ("pipx run @", "pipx"),
        ("python -u -c import/nothing", "python"),
        ("python tools/clock.py -c settings.toml", "clock"),
        ("node -e import('./server.js')", "node"),
    ],
)
def test_the_server_of_a_command_is_named_after_its_program(command: str, name: str) -> None:
    assert names(read_inputs(Typed(command=command.split()))) == [[name]]


def test_a_command_that_is_not_found_is_left_for_the_launch_to_explain() -> None:
    (session,) = read_inputs(Typed(command=["no-such-program"]))

    assert session.servers[0]["command"] == "no-such-program"


def test_a_variable_without_a_value_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)

    (session,) = read_inputs(Typed(command=["true"], env=["TOKEN"]))

    assert session.servers[0]["env"] == [{"name": "TOKEN", "value": SECRET}]
    assert SECRET not in repr(session)


@pytest.mark.parametrize(("sse", "kind"), [(False, "http"), (True, "sse")])
def test_a_url_is_a_server_with_the_headers_that_were_typed(sse: bool, kind: str) -> None:
    typed = Typed(servers=["HTTPS://u:p@Example.com/mcp?key=1"], headers=["Authorization:  Bearer a:b "], sse=sse)

    server = {
        "type": kind,
        "name": "example.com",
        "url": "HTTPS://u:p@Example.com/mcp?key=1",
        "headers": [{"name": "Authorization", "value": "Bearer a:b"}],
    }
    assert read_inputs(typed) == [
        Session(
            source="https://Example.com/mcp",
            entries=[Entry(name="example.com", server=server, place=Place(1, 1), written=server)],
            cwd=os.getcwd(),
            phrases=Phrases(http="leave out --sse", sse="add --sse"),
        )
    ]


def test_files_urls_and_a_command_can_be_meant_together(tmp_path: Path) -> None:
    typed = Typed(servers=[written(tmp_path, "a.json", "one", "two"), "http://host/mcp"], command=["true"])

    assert names(read_inputs(typed)) == [["one", "two"], ["host"], ["true"]]


def test_each_file_keeps_its_own_directory_unless_one_is_given(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"cwd": "/usr", "mcpServers": []}))
    files = [str(tmp_path / "a.json"), written(tmp_path, "b.json")]

    assert [each.cwd for each in read_inputs(Typed(servers=files))] == ["/usr", os.getcwd()]
    assert [each.cwd for each in read_inputs(Typed(servers=files, cwd="x"))] == [os.path.abspath("x")] * 2


def test_duplicate_names_in_two_files_are_shown_with_their_files(tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.json", "one", "both", "both"), written(tmp_path, "b.json", "both")

    # Twice in one file is a mistake in that file, and stays one.
    assert names(read_inputs(Typed(servers=[first, second]))) == [
        ["one", f"{first}:both", f"{first}:both"],
        [f"{second}:both"],
    ]


def test_only_those_that_were_named_are_meant(tmp_path: Path) -> None:
    file = written(tmp_path, "a.json", "one", "two", "three")

    assert names(read_inputs(Typed(servers=[file], only=["three", "one"]))) == [["one", "three"]]
    with pytest.raises(UnusableInput, match='no server is named "four"; the servers are one, three, two'):
        read_inputs(Typed(servers=[file], only=["one", "four"]))


def test_a_server_can_be_named_with_its_file(tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.json", "one", "both"), str(tmp_path / "b.json")
    Path(second).write_text(json.dumps([{**entry("both"), "args": ["${KEY}"]}]))

    def chosen(*only: str) -> list[Session]:
        return read_inputs(Typed(servers=[first, second], only=only))

    assert names(chosen(f"{second}:both")) == [[], [f"{second}:both"]]
    assert names(both := chosen("both")) == [[f"{first}:both"], [f"{second}:both"]]
    assert [len(each.findings) for each in both] == [0, 1]
    with pytest.raises(UnusableInput, match=f"{first}:both, {second}:both, one"):
        chosen("other")


def test_invalid_entries_are_left_for_the_launch_to_explain(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[5, {"name": 5}, {"command": "x"}, {"name": ""}]')

    (session,) = read_inputs(Typed(servers=[str(tmp_path / "a.json")]))

    assert session.servers == [5, {"name": 5}, {"command": "x"}, {"name": ""}]


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (Typed(), "no server was given"),
        (Typed(command=[]), "no command follows --"),
        (Typed(command=["https://host/mcp"]), "a URL follows --, not a command"),
        (Typed(servers=["-", "-"]), "standard input was given twice"),
        (Typed(servers=["a.json", "a.json"]), "a.json was given twice"),
        (Typed(servers=["a.json"], headers=["A: b"]), "--header requires exactly one URL, not 0"),
        (Typed(servers=["http://a", "http://b"], headers=["A: b"]), "--header requires exactly one URL, not 2"),
        (Typed(servers=["a.json"], sse=True), "--sse requires a URL"),
        (Typed(servers=["a.json"], env=["A=b"]), "--env requires a command"),
        (Typed(servers=["http://a"], headers=[SECRET]), "--header number 1 must be 'NAME: VALUE', but has no colon"),
        (Typed(command=["true"], env=["A=b", SECRET]), "--env number 2 must be NAME=VALUE"),
        (
            Typed(command=["true"], env=["NO_SUCH_VARIABLE"]),
            "--env NO_SUCH_VARIABLE: the variable NO_SUCH_VARIABLE is not set",
        ),
        (Typed(servers=["a\0b"]), "is not a valid file name"),
    ],
)
def test_contradictory_inputs_are_refused_without_quoting_secrets(typed: Typed, says: str) -> None:
    with pytest.raises(UnusableInput, match=says) as caught:
        read_inputs(typed)

    assert SECRET not in str(caught.value) + repr(typed)


@pytest.mark.parametrize(
    ("given", "shown", "instead"),
    [
        ("localhost:8000/mcp", "localhost:8000/mcp", "; is it a URL? URLs begin with http:// or https://"),
        (f"h.example:80?{SECRET}", "h.example:80", "; is it a URL? URLs begin with http:// or https://"),
        (f"htp://me:{SECRET}@h/mcp?{SECRET}", "htp://h/mcp", "; is it a URL? URLs begin with http:// or https://"),
        ("sh", "sh", "; is it a command? Put commands after --"),
        ("no-such-file", "no-such-file", ""),
        ("C:/no/such.json", "C:/no/such.json", ""),
    ],
)
def test_a_missing_file_is_reported_with_what_may_have_been_meant(given: str, shown: str, instead: str) -> None:
    with pytest.raises(UnusableInput) as raised:
        read_inputs(Typed(servers=[given]))

    assert str(raised.value) == f"{shown}: No such file or directory{instead}"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("server.py", b"import sys", "1:1: not JSON: a value is missing; is it a command? Put commands after --"),
        ("server", b"#!/bin/sh", "1:1: not JSON: a value is missing; is it a command? Put commands after --"),
        ("program", b"\x7fELF\xff", " not UTF-8 at byte 4; is it a command? Put commands after --"),
        ("servers.json", b"import sys", "1:1: not JSON: a value is missing"),
        ("latin-1.json", b'{"\xff', " not UTF-8 at byte 2"),
    ],
)
def test_a_file_without_servers_is_reported_with_how_to_run_it(
    name: str, content: bytes, says: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    file.chmod(0o644 if name.endswith(".json") else 0o755)

    with pytest.raises(UnusableInput) as raised:
        read_inputs(Typed(servers=[str(file)]))

    assert str(raised.value) == f"{file}:{says}"


@pytest.mark.parametrize("given", ["/dev/zero", "large.json", "-"])
def test_a_file_that_is_too_large_is_refused(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(16 * 2**20 + 1)
    monkeypatch.chdir(tmp_path)

    with large.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(UnusableInput) as raised:
            read_inputs(Typed(servers=[given]))

    source = "standard input" if given == "-" else given
    assert str(raised.value) == f"{source}: is larger than 16 MB; is it a config file?"


def test_yaml_that_is_too_large_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("extensions: {}\n".ljust(2**20 + 1, "#"))

    with pytest.raises(UnusableInput, match=r"config\.yaml:1:1: is larger than 1 MB, the limit for YAML"):
        read_inputs(Typed(servers=[str(file)]))


def test_a_deleted_current_directory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(UnusableInput, match=r"the current directory cannot be used .*; change to another one"):
        read_inputs(Typed(command=["sh"]))

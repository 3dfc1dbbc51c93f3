"""`check` with config files, run as users run it."""

from __future__ import annotations

import json
import os
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from mcp_launch import Options, UnusableInput, launch
from mcp_launch._command.find_servers import read_inputs
from mcp_launch._command.inputs import Session, Typed
from mcp_launch.config import FORMATS, read_config
from mcp_launch.config._formats import format_called
from mcp_launch.config._formats.map import MapFormat
from tests.mcp_launch.here import run_here
from tests.mcp_launch.servers.raw import raw_server, reply
from tests.mcp_launch.support import SECRET, SERVERS

UNSET = "${NOT_SET_ANYWHERE} is not set and was not replaced"


def check(*args: str, stdin: str = "", **variables: str) -> Any:
    return run_here("check", *args, stdin=stdin, **variables)


NOWHERE = {"HOME": "/no/such/home", "XDG_CONFIG_HOME": "/no/such/home"}


def discover(folder: Path, *args: str) -> Any:
    """Check the servers in the files of this project."""
    return check("--discover", "--trust", "--workspace", str(folder), *args, **NOWHERE)


def works(**env: str) -> dict[str, Any]:
    return {
        "command": sys.executable,
        "args": ["-S", str(SERVERS / "plain.py"), "works"],
        "env": {"SECRET": SECRET, **env},
    }


def written(folder: Path, file: str, value: object) -> str:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return str(path)


def names(sessions: list[Session]) -> list[tuple[str, list[str]]]:
    return [(session.cwd, [server["name"] for server in session.servers]) for session in sessions]


def test_an_input_that_is_not_declared_can_be_set(tmp_path: Path) -> None:
    file = written(tmp_path, ".vscode/mcp.json", {"servers": {"good": {"type": "stdio", **works(KEY="${input:key}")}}})
    assert "pass --set key=VALUE" in check(file, "--trust").stderr
    for done in (check(file, "--trust", "--set", "key=x"), discover(tmp_path, "--set", "key=x")):
        assert (done.returncode, done.stderr) == (0, "")


def test_an_input_is_taken_from_the_variable_of_its_name_or_of_its_form_for_variables(tmp_path: Path) -> None:
    server = works(KEY="${input:key}", TOKEN="${input:web-token}")
    file = written(tmp_path, ".vscode/mcp.json", {"servers": {"good": {"type": "stdio", **server}}})

    found = check(file, "--trust", "--set", "key", "--set", "web-token", key="x", WEB_TOKEN="y")
    missing = check(file, "--trust", "--set", "web-token")

    assert (found.returncode, found.stderr) == (0, "")
    message = "--set web-token: the variable WEB_TOKEN is not set; use web-token=VALUE\n"
    assert (missing.returncode, missing.stderr) == (2, f"mcp-launch: {message}")


def test_a_type_that_contradicts_the_members_is_refused_with_the_type_that_is_meant(tmp_path: Path) -> None:
    servers = {"a": {"type": "stdio", "url": "http://127.0.0.1:9/"}, "b": {"type": "http", **works()}}
    done = check(written(tmp_path, ".vscode/mcp.json", {"servers": servers}), "--trust")
    assert '/type: stdio has a command and no url; did you mean "http"?' in done.stdout
    assert '/type: http has a url and no command; did you mean "stdio"?' in done.stdout


def test_a_command_that_contains_its_arguments_is_shown_as_the_list_that_opencode_requires(tmp_path: Path) -> None:
    servers = {"tool": {"type": "local", "command": "npx -y server"}}

    done = check(written(tmp_path, "opencode.json", {"mcp": servers}), "--trust")

    assert '; write "command": ["npx", "-y", "server"]\n' in done.stdout


def test_a_variable_that_is_not_set_is_a_warning_at_its_server_in_every_output(tmp_path: Path) -> None:
    file = written(tmp_path, ".mcp.json", {"mcpServers": {"good": works(), "odd": works(KEY="${NOT_SET_ANYWHERE}")}})
    column = Path(file).read_text().index('"${NOT') + 1
    placed = f"{file}:1:{column}: {UNSET} [unset_variable]"
    pages = tmp_path / "page.html", tmp_path / "junit.xml"

    lines = check(file, "--html", str(pages[0]), "--junit", str(pages[1]))
    report = check(file, "--json")
    strict = check(file, "--strict")

    assert lines.stderr == f"{file}:1:{column}: warning: odd: {UNSET} [unset_variable]\n"
    assert [line.split()[:2] for line in lines.stdout.splitlines()] == [["ok", "good"], ["ok", "odd"]]
    assert json.loads(report.stdout)["findings"] == [
        {
            "source": file,
            "line": 1,
            "column": column,
            "level": "warning",
            "server": "odd",
            "code": "unset_variable",
            "message": UNSET,
        }
    ]
    assert f"<strong>Warning.</strong> <bdi>{placed}</bdi>" in pages[0].read_text()
    good, odd = (case.findtext("system-out", "").splitlines() for case in ET.parse(pages[1]).iter("testcase"))
    assert (f"warning: {placed}" in odd, f"warning: {placed}" in good) == (True, False)
    assert (lines.returncode, report.returncode, strict.returncode) == (0, 0, 1)


@pytest.mark.parametrize("command", ["call", "lint", "lock", "login", "shell", "whoami"])
def test_a_command_says_why_a_file_has_no_servers(command: str, tmp_path: Path) -> None:
    file = written(tmp_path, ".zed/settings.json", {"context_servers": {"off": {**works(), "enabled": False}}})
    done = run_here(command, file, *(["greet"] if command == "call" else []))

    said = f"{file}:1:22: note: off: is disabled in Zed and not started [disabled]\nmcp-launch: no servers were found\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert not Path(f"{file}.lock.json").exists()


def test_a_disabled_server_is_reported_without_a_warning(tmp_path: Path) -> None:
    off = {**works(KEY="${NOT_SET_ANYWHERE}"), "enabled": False}
    file = written(tmp_path, ".zed/settings.json", {"context_servers": {"off": off}})
    said = "off: is disabled in Zed and not started [disabled]"
    pages = tmp_path / "page.html", tmp_path / "junit.xml"

    done = check(file, "--strict", "--html", str(pages[0]), "--junit", str(pages[1]))

    assert (done.returncode, done.stdout) == (0, "no servers\n")
    assert done.stderr == f"{file}:1:22: note: {said}\n"
    assert f"<strong>Note.</strong> <bdi>{file}:1:22: {said}</bdi>" in pages[0].read_text()
    assert ET.parse(pages[1]).findtext("testsuite/system-out") == f"{file}:1:22: note: {said}"

    # Zed does not support it either.
    written(tmp_path, ".zed/settings.json", {"context_servers": {"off": {"type": "sse", "url": "u", "enabled": False}}})
    with pytest.raises(UnusableInput, match=r"settings.json:1:22: off: is disabled in Zed"):
        read_inputs(Typed(servers=[file], only=["off"]))


def test_only_some_servers_are_only_their_findings(tmp_path: Path) -> None:
    entries = {name: {"command": "c", "args": [f"${{NOT_{name}}}"]} for name in ("A", "B")}
    file = written(tmp_path, ".mcp.json", {"mcpServers": entries})

    (session,) = read_inputs(Typed(servers=[file], only=["B"]))

    assert [each.server for each in session.findings] == ["B"]


def test_a_finding_is_at_the_server_of_its_own_file(tmp_path: Path) -> None:
    odd = {"mcpServers": {"one": {"command": "c", "args": ["${NOT_SET}"]}}}
    off = {"context_servers": {"one": {"command": "c", "enabled": False}}}
    files = [written(tmp_path, ".mcp.json", odd), written(tmp_path, ".zed/settings.json", off)]

    first, second = read_inputs(Typed(servers=files))

    assert first.servers[0]["name"] == f"{files[0]}:one"
    assert [each.server for each in (*first.findings, *second.findings)] == [f"{file}:one" for file in files]


def test_servers_with_directories_of_their_own_are_started_there(tmp_path: Path) -> None:
    entries = {
        "here": {"command": "c"},
        "below": {"command": "c", "cwd": "${workspaceFolder}/below"},
        "beside": {"command": "c", "cwd": "beside"},
        "too": {"command": "c", "cwd": "${workspaceFolder}/x/../below"},
    }
    file = written(tmp_path, ".vscode/mcp.json", {"servers": entries})

    sessions = read_inputs(Typed(servers=[file], cwd="/usr"))

    below, beside = str(tmp_path / "below"), str(tmp_path / "beside")
    assert names(sessions) == [("/usr", ["here"]), (below, ["below", "too"]), (beside, ["beside"])]


def test_servers_of_a_project_are_started_in_its_directory(tmp_path: Path) -> None:
    server = {"n": {"command": "c"}}
    files = [
        written(tmp_path, "p/.vscode/mcp.json", {"servers": server}),
        written(tmp_path, "f", {"mcpServers": server}),
    ]

    found = [read_inputs(Typed(servers=[file]))[0].cwd for file in files]
    elsewhere = [read_inputs(Typed(servers=[file], workspace="x"))[0].cwd for file in files]

    assert found == [str(tmp_path / "p"), os.getcwd()]
    assert elsewhere == [os.path.abspath("x")] * 2


def test_the_files_of_all_clients_are_found_those_of_the_project_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    claude: dict[str, Any] = {"mcpServers": {"user": {"command": "c"}}, "projects": {}}
    claude["projects"] = {str(project): {"mcpServers": {"shop": {"command": "c"}}}}
    written(home, ".claude.json", claude)
    written(home, ".gemini/settings.json", {"theme": "dark"})
    written(home, ".cursor/mcp.json", {"mcpServers": {"cursor": {"command": "${workspaceFolder}/c"}}})
    file = written(project, ".mcp.json", {"mcpServers": {"project": {"command": "c"}}})
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.chdir(project)

    everything = read_inputs(Typed(discover=True, trust=True))
    named = read_inputs(Typed(servers=[".mcp.json"], discover=True, workspace=str(project)))

    of_user = [str(home / each) for each in (".claude.json", ".cursor/mcp.json")]
    assert [session.source for session in everything] == [file, *of_user]
    assert [name for _, each in names(everything) for name in each] == ["project", "shop", "user", "cursor"]
    assert everything[-1].servers[0]["command"] == f"{project}/c"
    assert [session.source for session in named] == [".mcp.json", *of_user]
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    (home / ".cursor" / "mcp.json").unlink()
    with pytest.raises(UnusableInput, match="--discover found no servers"):
        read_inputs(Typed(discover=True))


def test_the_files_of_the_whole_repository_are_found_from_a_directory_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, repository = tmp_path / "home", tmp_path / "repository"
    below = repository / "packages" / "a"
    inner = written(below, ".vscode/mcp.json", {"servers": {"inner": {"command": "${workspaceFolder}/c"}}})
    outer = written(repository, ".mcp.json", {"mcpServers": {"outer": {"command": "c"}}})
    written(tmp_path, ".mcp.json", {"mcpServers": {"outside": {"command": "c"}}})
    projects = {str(repository): {"mcpServers": {"local": {"command": "c"}}}}
    of_user = written(home, ".claude.json", {"projects": projects})
    (repository / ".git").mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.chdir(below)

    found = read_inputs(Typed(discover=True, trust=True))

    assert [session.source for session in found] == [inner, outer, of_user]
    assert names(found) == [(str(below), ["inner"]), (str(repository), ["outer"]), (str(below), ["local"])]
    assert found[0].servers[0]["command"] == f"{below}/c"


def test_invalid_discovered_files_are_reported_and_others_checked(tmp_path: Path) -> None:
    broken = tmp_path / ".mcp.json"
    broken.write_text("{")
    written(tmp_path, ".cursor/mcp.json", {"mcpServers": {"one": works()}})

    done = discover(tmp_path)
    strict = discover(tmp_path, "--junit", str(tmp_path / "report.xml"))
    (tmp_path / ".cursor" / "mcp.json").unlink()
    none = discover(tmp_path, "--json")

    told = f"mcp-launch: {broken}:1:2: not JSON: a bracket is not closed\n"
    assert (done.returncode, done.stderr, done.stdout.split()[:2]) == (2, told, ["ok", "one"])
    assert (strict.returncode, strict.stderr, strict.stdout) == (2, told, "")
    nothing = "--discover found no servers in the files of this project or your own"
    assert (none.returncode, none.stderr) == (2, f"{told}mcp-launch: {nothing}\n")
    assert json.loads(none.stdout)["unusable"] == [told.removeprefix("mcp-launch: ").rstrip(), nothing]


def test_a_discovered_file_with_servers_of_another_client_is_reported(tmp_path: Path) -> None:
    written(tmp_path, ".mcp.json", {"mcpServers": {"one": works()}})
    cursor = written(tmp_path, ".cursor/mcp.json", {"servers": {"two": works()}})
    vscode = written(tmp_path, ".vscode/mcp.json", {"mcpServers": {"three": works()}})
    written(tmp_path, ".gemini/settings.json", {"servers": {}, "theme": "dark"})

    done = discover(tmp_path)

    assert (done.returncode, done.stdout.split()[:2], len(done.stdout.splitlines())) == (2, ["ok", "one"], 1)
    vscode_lacks = 'contains no "servers" or "mcp.servers", where VS Code looks for servers; rename "mcpServers"'
    cursor_lacks = 'contains no "mcpServers", where Cursor looks for servers; rename "servers"'
    assert done.stderr.splitlines() == [
        f"mcp-launch: {file}:1:1: {lacks}, which other clients use"
        for file, lacks in ((vscode, vscode_lacks), (cursor, cursor_lacks))
    ]


@pytest.mark.parametrize("entry", ["npx foo", None, [], {}])
def test_an_entry_that_is_not_a_server_is_invalid(entry: object, tmp_path: Path) -> None:
    file = written(tmp_path, ".mcp.json", {"mcpServers": {"odd": entry}})

    done = check(file)

    says = 'the entry: a server must be a map with a "command", or with a "url" and its "type"'
    kind = "stdio" if entry == {} else "?    "  # what has no URL is a program in such a file
    assert (done.returncode, done.stdout) == (1, f"FAIL odd {kind} invalid_spec in spec after 0.0 s: {says}\n")
    assert (f"{file}:1:17: warning: odd: a server must be a map" in done.stderr) == (entry != {})


_GOOSE = 'a server must be a map with a "cmd", or with a "uri" and its "type"'
_NO_TYPE = "is not a transport; the transports are stdio, streamable_http and sse"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "entry", "says"),
    [
        ("goose", {"type": "stdio", "command": "c"}, f"the entry: {_GOOSE}"),
        ("goose", {"type": "stdio", "cmd": 3}, "/cmd: input should be a valid string; write it in quotes"),
        (
            "goose",
            {"type": "stdio", "cmd": "c", "envs": {"A": 3}},
            "/envs/A: input should be a valid string; write it in quotes",
        ),
        ("goose", {"type": "streamable_http", "url": "http://h"}, "/uri: field required"),
        ("goose", {"type": "sse", "uri": "h"}, "/uri: must start with http:// or https://"),
        (
            "goose",
            {"type": "stdio", "cmd": "http://h"},
            '/cmd: is a URL, not a program; give it as "uri", with "type": "streamable_http"',
        ),
        (
            "goose",
            {"type": "streaming", "uri": "http://h"},
            f'/type: "streaming" {_NO_TYPE}; did you mean "streamable_http"?',
        ),
        ("goose", {"type": "local", "cmd": "c"}, f'/type: "local" {_NO_TYPE}; did you mean "stdio"?'),
        ("windsurf", {}, 'the entry: a server must be a map with a "command" or a "serverUrl"'),
        (
            "windsurf",
            {"command": "http://h/sse"},
            '/command: is a URL, not a program; give it as "serverUrl"',
        ),
        ("gemini", {"httpUrl": "h"}, "/httpUrl: must start with http:// or https://"),
        ("gemini", {"command": "http://h"}, '/command: is a URL, not a program; give it as "httpUrl"'),
        ("gemini", {"command": "http://h/sse"}, '/command: is a URL, not a program; give it as "url"'),
        ("zed", {"command": "http://h"}, '/command: is a URL, not a program; give it as "url"'),
        ("gemini", {}, 'the entry: a server must be a map with a "command", an "httpUrl" or a "url"'),
        ("zed", {}, 'the entry: a server must be a map with a "command" or a "url"'),
        ("claude-desktop", {}, 'the entry: a server must be a map with a "command"'),
    ],
)
async def test_errors_in_an_entry_use_the_terms_of_its_file(
    name: str, entry: dict[str, Any], says: str, tmp_path: Path
) -> None:
    known = format_called(name)
    (holder,) = known.at[0]
    config = read_config(json.dumps({holder: {"odd": entry}}), source="f", format=name)

    async with launch(config.servers, cwd=tmp_path, options=Options(phrases=known.phrases)) as fleet:
        assert [failure.message for failure in fleet.failures] == [says]


@pytest.mark.parametrize("name", [each for each in FORMATS if isinstance(format_called(each), MapFormat)])
def test_the_terms_in_errors_are_those_that_the_format_reads(name: str) -> None:
    known = format_called(name)
    assert isinstance(known, MapFormat)
    called = known.phrases.called

    assert (called("command"), called("env")) == (known.command, known.env)
    assert called("url") in known.urls
    # Without a type, only the name of the URL or the URL itself determines the transport.
    told = dict(known.phrases.urls)
    assert told.keys() == {"http", "sse"} & {*known.transports} - known.types.keys()
    assert all(known.guess(member, f"http://h/{kind}") == kind for kind, member in told.items())
    assert told.get("http", called("url")) == next(iter(known.urls))
    assert called("http") == known.types.get("http", "http")
    needed = set(re.findall(r'"(\w+)"', known.phrases.needs))
    assert {known.command, *(list(known.urls)[:1] if "http" in known.transports else ())} <= needed <= known.known()


def test_the_value_of_a_variable_in_an_argument_is_redacted(tmp_path: Path) -> None:
    script = 'echo "started with $0" >&2; exit 3'
    entry = {"command": "/bin/sh", "args": ["-c", script, "${SECRET_ARGUMENT}"]}
    file = written(tmp_path, ".mcp.json", {"mcpServers": {"odd": entry}})
    pages = tmp_path / "page.html", tmp_path / "junit.xml"

    lines = check(file, "--verbose", "--html", str(pages[0]), "--junit", str(pages[1]), SECRET_ARGUMENT=SECRET)
    report = check(file, "--json", SECRET_ARGUMENT=SECRET)

    assert "it wrote on stderr: started with [redacted]" in lines.stdout
    assert "odd !! started with [redacted]" in lines.stderr
    assert json.loads(report.stdout)["servers"][0]["failure"]["facts"]["stderr"] == ["started with [redacted]"]
    assert SECRET not in lines.stdout + lines.stderr + report.stdout + "".join(page.read_text() for page in pages)


def test_the_value_of_a_variable_in_the_path_of_a_url_is_redacted(tmp_path: Path) -> None:
    with raw_server(lambda request: [reply(404, f"no {request.target}".encode(), content_type="text/plain")]) as raw:
        entry = {"type": "http", "url": f"{raw.origin}/${{SECRET_PATH}}/mcp"}
        file = written(tmp_path, ".mcp.json", {"mcpServers": {"web": entry}})
        lines = check(file, "--verbose", SECRET_PATH=SECRET)
        report = check(file, "--json", SECRET_PATH=SECRET)

    assert f"POST {raw.origin}/[redacted]/mcp returned 404" in lines.stdout
    assert json.loads(report.stdout)["servers"][0]["target"] == f"{raw.origin}/[redacted]/mcp"
    assert SECRET not in lines.stdout + lines.stderr + report.stdout


@pytest.mark.parametrize("command", ["tools", "call"])
def test_the_value_of_a_variable_in_an_argument_is_redacted_in_offers(command: str, tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": ["-S", str(SERVERS / "ci.py"), "${SECRET_ARGUMENT}"]}
    file = written(tmp_path, ".mcp.json", {"mcpServers": {"ci": entry}})
    words = [file, "say"] if command == "call" else [file]

    # A word of what the server says.
    done = run_here(command, *words, SECRET_ARGUMENT="setvariable")

    assert "[task.[redacted]" in done.stdout
    assert "setvariable" not in done.stdout

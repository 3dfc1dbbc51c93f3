"""`mcp-launch fix` never writes without --write, and changes nothing but the broken entries."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_launch._command.fix.draft import Draft
from mcp_launch._command.fix.urls import other_origin
from mcp_launch.config._formats import format_called
from mcp_launch.config._read import read_config
from mcp_launch.report import FailureJson
from tests.mcp_launch.explore.here import PLAIN, Command
from tests.mcp_launch.fix.web import small_web
from tests.mcp_launch.servers.tls import certificates
from tests.mcp_launch.support import SECRET

ENTRY = {"command": f"{PLAIN['command']} -S {PLAIN['args'][1]}"}
OLD = """{
  // kept
  "servers": {
    "works": {"command": "python3", "args": ["-S", "PLAIN"], "env": {"KEY": "SECRET"}},
    "broken": {"command": "python3 -S PLAIN", "env": {"API": "SECRET"}}, // mine
  },
}
""".replace("PLAIN", PLAIN["args"][1]).replace("SECRET", SECRET)
NEW = OLD.replace(f'"python3 -S {PLAIN["args"][1]}"', f'"python3", "args": ["-S", "{PLAIN["args"][1]}"]')


@pytest.fixture
def file(folder: Path) -> Path:
    path = folder / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text(OLD)
    return path


def write(file: Path, **servers: Any) -> str:
    file.write_text(json.dumps({"mcpServers": servers}))
    return str(file)


def test_without_write_the_edit_is_only_shown(file: Path, command: Command) -> None:
    done = command("fix", str(file))

    assert done.status == 0
    assert done.out.splitlines()[-4:-2] == [line for line in lines_of_diff() if line[0] in "+-"]
    assert "fixed   broken split the command" in done.err
    assert "ready   works  works as it is" in done.err
    assert "nothing was written; use --write" in done.err
    assert SECRET not in done.out + done.err
    assert (file.read_text(), list(file.parent.iterdir())) == (OLD, [file])


def lines_of_diff() -> list[str]:
    old, new = (text.splitlines()[4].replace(SECRET, "[redacted]") for text in (OLD, NEW))
    return [f"-{old}", f"+{new}"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_write_keeps_comments_line_endings_mode_and_a_backup(newline: str, file: Path, command: Command) -> None:
    old, new = (f"\ufeff{text}".replace("\n", newline).encode() for text in (OLD, NEW))
    earlier = file.with_name("mcp.json.bak")
    earlier.write_text("earlier")
    link = file.parents[1] / "mcp_link.json"
    file.write_bytes(old)
    file.chmod(0o640)
    link.symlink_to(file)

    done = command("fix", str(link), "--write")

    backup = file.with_name("mcp.json.bak1")
    assert (done.status, file.read_bytes(), backup.read_bytes(), earlier.read_text()) == (0, new, old, "earlier")
    assert (file.stat().st_mode & 0o777, backup.stat().st_mode & 0o777, link.is_symlink()) == (0o640, 0o640, True)
    assert f"the old file is {backup}" in done.err


def test_a_byte_order_mark_that_the_client_rejects_is_removed(folder: Path, command: Command) -> None:
    file = folder / "claude_desktop_config.json"
    text = json.dumps({"mcpServers": {"works": PLAIN}})
    file.write_text(f"\ufeff{text}", encoding="utf-8")

    done = command("fix", str(file), "--write")

    assert (done.status, file.read_text(encoding="utf-8")) == (0, text)
    assert done.out.splitlines()[-1] == f"+{text}"


def test_inputs_are_given_to_the_server(file: Path, command: Command) -> None:
    entry = {"command": "npx -y chatty-mcp", "args": ["--transport", "${input:kind}"]}
    file.write_text(json.dumps({"servers": {"chatty": entry}}))

    done = command("fix", str(file), "--set", "kind=stdio")

    assert (done.status, "fixed   chatty split the command" in done.err) == (0, True)


def test_a_fixed_file_is_not_written_again(file: Path, command: Command) -> None:
    command("fix", str(file), "--write")

    done = command("fix", str(file), "--write", "--json")

    assert [each["outcome"] for each in json.loads(done.out)["servers"]] == ["ready", "ready"]
    assert len(list(file.parent.iterdir())) == 2


def test_only_fixes_the_named_server_and_reports_the_others_not(folder: Path, command: Command) -> None:
    file = write(folder / ".mcp.json", a=ENTRY, b=ENTRY)

    done = command("fix", file, "--write", "--only", "b", "--json")

    written = json.loads(Path(file).read_text())["mcpServers"]
    assert (written["a"], written["b"]["command"]) == (ENTRY, PLAIN["command"])
    assert [each["name"] for each in json.loads(done.out)["servers"]] == ["b"]


def test_what_cannot_be_fixed_does_not_stop_the_others(folder: Path, command: Command) -> None:
    file = write(folder / ".mcp.json", a={"command": "/no/such/program"}, b=ENTRY)

    done = command("fix", file, "--write")

    assert done.status == 1
    assert 'refused a command not found: "/no/such/program"; is the path right? (no edit is known)' in done.err
    assert json.loads(Path(file).read_text())["mcpServers"]["b"]["command"] == PLAIN["command"]


def test_a_variable_that_a_server_misses_in_its_log_messages_is_renamed(folder: Path, command: Command) -> None:
    logged = {"level": "error", "data": "WEATHER_KEY is not set"}
    notification = {"jsonrpc": "2.0", "method": "notifications/message", "params": logged}
    server = folder / "tools" / "server.py"
    server.write_text(
        f"import os\nif 'WEATHER_KEY' not in os.environ: print({json.dumps(notification)!r}, flush=True); os._exit(1)\n"
        f"{server.read_text()}"
    )
    entry = {"command": "python3", "args": [str(server)]}
    file = write(folder / ".mcp.json", a={**entry, "env": {"WEATHERKEY": "x"}})

    done = command("fix", file, "--write")

    assert "fixed   a rename WEATHERKEY to WEATHER_KEY" in done.err
    assert json.loads(Path(file).read_text())["mcpServers"]["a"] == {**entry, "env": {"WEATHER_KEY": "x"}}


def test_the_failure_after_the_edits_that_got_further_is_shown(folder: Path, command: Command) -> None:
    script = folder / "imports.py"
    script.write_text("import no_such_module")
    in_args = {"command": "python3", "args": [str(script)]}
    file = write(folder / ".mcp.json", a={"command": f"python3 {script}"}, b=in_args)

    done = command("fix", file)

    said = "exited with status 1: the Python that runs it has no module no_such_module"
    [line] = [each for each in done.err.splitlines() if each.startswith("  ")]
    assert line.startswith('  with "split the command into the program and its arguments')
    assert f'": {said}' in line
    assert f"refused b {said}" in done.err


def test_a_package_without_versions_is_not_proposed(folder: Path, command: Command) -> None:
    file = write(folder / ".mcp.json", a={"command": "uvx", "args": ["empty-mcp"]})

    done = command("fix", file, "--json")

    assert json.loads(done.out)["servers"][0]["needs_trust"] == []


def test_an_entry_that_works_in_a_second_attempt_is_not_edited(folder: Path, command: Command) -> None:
    script = folder / "flaky.sh"
    script.write_text(
        f"""test -e "{folder}/flag" || {{ touch "{folder}/flag"; exit 1; }}\n"""
        f"""exec "{sys.executable}" -S "{PLAIN["args"][1]}"\n"""
    )
    file = write(folder / ".mcp.json", a={"command": "sh", "args": [str(script), "~/project"]})
    before = Path(file).read_text()

    done = command("fix", file, "--write", "--json")

    assert [each["outcome"] for each in json.loads(done.out)["servers"]] == ["ready"]
    assert (done.status, Path(file).read_text()) == (0, before)


def test_a_file_that_changes_meanwhile_is_not_overwritten(folder: Path, command: Command) -> None:
    file = folder / ".mcp.json"
    script = folder / "edits.sh"
    script.write_text(f"""echo >> "{file}"; exec "{sys.executable}" -S "{PLAIN["args"][1]}"\n""")
    write(file, a={"command": f"sh {script}"})

    done = command("fix", str(file), "--write", "--json")

    assert (done.status, json.loads(done.out)["unusable"]) == (2, [f"{file}: has changed in the meantime; try again"])
    assert list(folder.glob(".mcp.json.bak*")) == []


def test_https_is_used_for_a_port_that_speaks_tls(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    issued = certificates(tmp_path, password=SECRET)
    monkeypatch.setenv("SSL_CERT_FILE", issued.authority)
    with small_web(tls=issued.serving()) as origin:
        path = write(folder / ".mcp.json", web={"type": "http", "url": f"{origin}/mcp"})

        done = command("fix", path, "--json")

    (server,) = json.loads(done.out)["servers"]
    assert server["failure"]["message"].endswith("speaks TLS; use https://")
    assert (done.status, server["changes"], server["tried"]) == (0, ["use https"], [])


def test_a_redirect_to_https_is_followed_and_none_to_http(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: str, command: Command
) -> None:
    issued = certificates(tmp_path, password=SECRET)
    monkeypatch.setenv("SSL_CERT_FILE", issued.authority)
    with small_web(tls=issued.serving()) as served:
        secure = served.replace("http:", "https:")
        port, plain_port = (each.rpartition(":")[2] for each in (secure, origin))
        up = {"type": "http", "url": f"{origin}/to/https/127.0.0.1/{port}?key={SECRET}"}
        down = {"type": "http", "url": f"{secure}/to/http/127.0.0.1/{plain_port}"}
        path = write(folder / ".mcp.json", up=up, down=down)

        done = command("fix", path, "--write", "--json")

    servers = json.loads(done.out)["servers"]
    assert [each["changes"] for each in servers] == [["use the URL of the redirect"], ["use the path /mcp"]]
    assert json.loads(Path(path).read_text())["mcpServers"]["up"]["url"] == f"{secure}/mcp?key={SECRET}"


@pytest.mark.parametrize(("host", "proposed"), [("mcp.example.com", []), ("[::1]", ["http://[::1]/mcp"])])
def test_http_is_only_proposed_for_this_machine(host: str, proposed: list[str]) -> None:
    text = json.dumps({"mcpServers": {"web": {"type": "http", "url": f"https://{host}/mcp"}}})
    (entry,) = read_config(text, source=".mcp.json").entries
    failure = FailureJson(stage="connect", code="refused", message="", advice="", elapsed=0, facts={})
    form, raw = format_called("claude-code"), entry.server
    draft = Draft(form=form, entry=entry, raw=raw, failure=failure, folder="/", cwd="/")

    urls = [edit.value for remedy in other_origin(draft) for edit in remedy.edits]
    assert [each for each in urls if each.startswith("http:")] == proposed


def test_the_type_is_set_where_a_client_derives_another_one(
    folder: Path, echo_urls: dict[str, str], command: Command
) -> None:
    path = folder / "gemini-extension.json"
    done = command("fix", write(path, web={"httpUrl": echo_urls["sse"]}), "--write")

    assert (done.status, json.loads(path.read_text())["mcpServers"]["web"]) == (
        0,
        {"url": echo_urls["sse"], "type": "sse"},
    )


@pytest.mark.parametrize("given", ["-", "https://h.example/mcp", "no.json"])
def test_only_files_can_be_fixed(given: str, command: Command) -> None:
    done = command("fix", given, "--json")

    report = json.loads(done.out)
    assert (done.status, report["ok"], len(report["unusable"])) == (2, False, 1)


def test_files_of_another_structure_are_rejected(folder: Path, command: Command) -> None:
    (folder / "opencode.json").write_text('{"mcp": {"a": {"type": "local", "command": ["no-such-program"]}}}')
    done = command("fix", str(folder / "opencode.json"))

    assert (done.status, done.err) == (
        2,
        f"mcp-launch: {folder / 'opencode.json'}: fix does not edit files of OpenCode\n",
    )


def test_values_that_look_like_secrets_are_not_shown(folder: Path, command: Command) -> None:
    file = folder / ".mcp.json"
    command_line = f"{ENTRY['command']} works --api-key {SECRET}"
    file.write_text(json.dumps({"apiKey": f"{SECRET}2", "mcpServers": {"a": {"command": command_line}}}, indent=1))

    done = command("fix", str(file))

    assert "--api-key" in done.out
    assert SECRET not in done.out + done.err


def test_what_is_not_secret_in_headers_and_variables_is_shown(folder: Path, origin: str, command: Command) -> None:
    headers = [{"name": "X-Key", "value": "${X_KEY}"}, {"name": "Authorization", "value": SECRET}]
    server = {"type": "http", "name": "web", "url": f"{origin}/guarded/mcp", "headers": headers}
    path = folder / "request.json"
    path.write_text(json.dumps({"cwd": str(folder), "mcpServers": [server]}).replace('{"name"', '\n{"name"'))

    done = command("fix", str(path))

    assert ' {"name": "X-Key", "value": "${X_KEY}"}, ' in done.out.splitlines()
    assert '+{"name": "Authorization", "value": "Bearer [redacted]"}]}]}' in done.out.splitlines()
    assert SECRET not in done.out + done.err


def test_a_server_named_like_a_secret_is_shown_without_its_secrets(folder: Path, command: Command) -> None:
    inside = {"command": "true", "env": {"A": f"{SECRET}2"}}
    servers = {"auth0": {**ENTRY, "env": {"A": SECRET}}, "env": {"command": "true"}, "servers": inside}
    file = folder / ".claude.json"
    projects = {"/keycloak": {"mcpServers": {"one": {"command": "true", "env": {"A": f"{SECRET}3"}}}}}
    file.write_text(json.dumps({"mcpServers": servers, "projects": projects}))

    done = command("fix", str(file), "--only", "auth0")

    shown = re.sub(rf"{SECRET}\d?", "[redacted]", file.read_text())
    assert done.out.splitlines()[3] == f"-{shown}"


def test_a_final_slash_is_removed_before_other_paths_are_tried(folder: Path, origin: str, command: Command) -> None:
    file = write(folder / ".mcp.json", a={"type": "http", "url": f"{origin}/mcp/"})

    done = command("fix", file, "--json")

    [server] = json.loads(done.out)["servers"]
    assert server["changes"] == ["use the path /mcp"]
    assert [each["change"] for each in server["tried"]] == ["use the transport sse"]


def test_secrets_in_a_command_or_arguments_as_one_string_are_not_shown(folder: Path, command: Command) -> None:
    in_command = {"command": f"no-such-program --api-key {SECRET}"}
    before_it = {"command": f"API_KEY={SECRET}2 no-such-program"}
    in_args = {"command": "no-such-program", "args": f"--api-key {SECRET}3"}
    file = write(folder / ".mcp.json", a=in_command, b=before_it, c=in_args, d=ENTRY)

    done = command("fix", file)

    assert "fixed   d" in done.err
    assert "--api-key [redacted]" in done.out
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize(("path", "changes"), [("/mcp", []), ("", ["use the path /mcp"])])
def test_the_type_that_claude_code_requires_is_added(
    path: str, changes: list[str], folder: Path, origin: str, command: Command
) -> None:
    file = write(folder / ".mcp.json", a={"url": f"{origin}{path}", "headers": {}})

    done = command("fix", file, "--write", "--json")

    [server] = json.loads(done.out)["servers"]
    written = json.loads(Path(file).read_text())["mcpServers"]["a"]
    assert (done.status, server["outcome"]) == (0, "fixed")
    assert server["changes"] == [*changes, "set type to http"]
    assert list(written.items()) == [("url", f"{origin}/mcp"), ("type", "http"), ("headers", {})]


def test_a_warning_does_not_concern_other_servers(folder: Path, origin: str, command: Command) -> None:
    file = folder / ".mcp.json"
    web = {"type": "http", "url": f"{origin}/mcp"}
    servers = {"a": web, "b": {**web, "headers": {"X-Key": "$KEY"}}}
    file.write_text(json.dumps({"mcpServers": servers, "servers": {"c": web}}))

    done = command("fix", str(file))

    assert done.err.splitlines()[-2:] == ["ready   a works as it is", "ready   b starts, but see the warning"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".cursor/mcp.json", '{"servers": {"a": {"url": "WEB/mcp"}}}'),
        ("claude_desktop_config.json", '{"mcpServers": {"a": {"url": "WEB/mcp"}}}'),
        (".mcp.json", '{"mcpServers": {"a": {"type": "http", "url": "WEB/mcp", "headers": {"X-Key": "$KEY"}}}}'),
    ],
)
def test_a_server_that_its_client_may_not_start_is_not_said_to_work(
    path: str, text: str, folder: Path, origin: str, command: Command
) -> None:
    file = folder / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text.replace("WEB", origin))

    done = command("fix", str(file))

    warning, line = done.err.splitlines()
    assert "warning: " in warning
    assert line == "ready   a starts, but see the warning"

"""References to variables: which ones each client replaces, and their form in other formats."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from mcp_launch.config import FORMATS, Config, Place, read_config, write_config
from mcp_launch.config._references import Reference, Text


def config(
    name: str, entry: dict[str, Any], *, env: dict[str, str] | None = None, workspace: str | None = None
) -> Config:
    holder = {"vscode": "servers", "zed": "context_servers", "goose": "extensions", "opencode": "mcp"}.get(
        name, "mcpServers"
    )
    if name == "goose":
        entry = {"enabled": True, "args": [], **entry}
    text = json.dumps({holder: {"n": entry}})
    return read_config(text, source="f", format=name, env=env or {}, workspace=workspace)


@pytest.mark.parametrize(
    ("name", "text", "becomes", "codes"),
    [
        ("claude-code", "${A}", "a", []),
        ("claude-code", "${A:-d}-${B:-d}-${EMPTY:-d}", "a-d-", []),
        ("claude-code", "pa$$W0RD", "pa$$W0RD", []),
        ("claude-code", "a=$HOME/x", "a=$HOME/x", ["unexpanded_variable"]),
        ("gemini", "%USERPROFILE%\\x %2FA%3A", "%USERPROFILE%\\x %2FA%3A", ["unexpanded_variable"]),
        ("claude-code", "${B}", "${B}", ["unset_variable"]),
        ("claude-code", "${EMPTY}", "", []),
        ("claude-code", "${env:A}", "${env:A}", ["unset_variable"]),
        ("claude-code", "${B:-${A}}", "${A}", []),
        ("vscode", "${env:A}${/}${userHome}${pathSeparator}", "a//h/", []),
        ("vscode", "${A}", "${A}", ["unknown_variable"]),
        ("vscode", "${env:}", "${env:}", ["unknown_variable"]),
        ("vscode", "${workspaceFolder:other}", "${workspaceFolder:other}", ["unknown_variable"]),
        ("vscode", "${input:x}", "${input:x}", ["asks_user"]),
        ("vscode", "${workspaceFolder}:${workspaceFolderBasename}", "/w/dir:dir", []),
        ("vscode", "${command:x.y} ${config:z}", "${command:x.y} ${config:z}", ["unknown_variable"] * 2),
        ("cursor", "${env:A}${input:x}", "a${input:x}", ["unknown_variable"]),
        ("windsurf", "${env:A}${env:B}", "a${env:B}", ["unset_variable"]),
        ("gemini", "$A ${A} $B ${B} $", "a a $B ${B} $", ["unset_variable"] * 2),
        ("gemini", "${A:-d}-${B:-d}-${B:-}", "a-d-", []),
        ("claude-desktop", "${A}", "${A}", ["unexpanded_variable"]),
        ("zed", "${A}", "${A}", ["unexpanded_variable"]),
        ("goose", "${A}", "${A}", ["unexpanded_variable"]),
        ("opencode", "{env:A}${A}{env:}", "a${A}{env:}", ["unexpanded_variable"]),
        ("opencode", "{env:B} {file:~/key}", "{env:B} {file:~/key}", ["unset_variable", "not_read"]),
    ],
)
def test_each_client_replaces_its_own_references(name: str, text: str, becomes: str, codes: list[str]) -> None:
    env = {"A": "a", "EMPTY": "", "HOME": "/h"}
    others: dict[str, Any] = {
        "goose": {"type": "stdio", "cmd": "c", "args": [text]},
        "opencode": {"type": "local", "command": ["c", text]},
    }
    found = config(name, others.get(name, {"command": "c", "args": [text]}), env=env, workspace="/w/dir")

    assert found.servers[0]["args"] == [becomes]
    assert [each.code for each in found.findings] == codes


@pytest.mark.parametrize(
    ("name", "entry", "says"),
    [
        (
            "claude-desktop",
            {"command": "c", "env": {"KEY": "${OPENAI_API_KEY}"}},
            "Claude Desktop does not replace ${OPENAI_API_KEY} in env; write the value",
        ),
        (
            "claude-code",
            {"type": "http", "url": "u", "headers": {"Authorization": "Bearer $TOKEN"}},
            "Claude Code does not replace $TOKEN in headers; write ${TOKEN}",
        ),
        ("vscode", {"command": "c", "args": ["$TOKEN"]}, "VS Code does not replace $TOKEN in args; write ${env:TOKEN}"),
        (
            "goose",
            {
                "type": "streamable_http",
                "uri": "u",
                "headers": {"Authorization": "Bearer $TOKEN ${A}"},
                "env_keys": ["A"],
            },
            "Goose does not replace $TOKEN in headers; list its name in env_keys",
        ),
        (
            "goose",
            {"type": "streamable_http", "uri": "https://h/${TOKEN}"},
            "Goose does not replace ${TOKEN} in uri; list its name in env_keys",
        ),
        (
            "goose",
            {"type": "stdio", "cmd": "c", "env_keys": ["KEY"]},
            "KEY is not set; Goose may have its value elsewhere",
        ),
        ("zed", {"command": "sh", "args": ["-c", "exec $HOME/server"]}, None),
    ],
)
def test_what_looks_like_a_variable_is_a_finding_with_what_to_write(
    name: str, entry: dict[str, Any], says: str | None
) -> None:
    found = config(name, entry, env={"A": "a"}).findings

    assert [each.message for each in found] == ([says] if says else [])


def test_a_variable_in_an_acp_request_is_a_finding() -> None:
    text = '[{"name": "n", "command": "c", "args": [],\n"env": [{"name": "K", "value": "${KEY}"}]}]'

    [found] = read_config(text, source="f", format="acp").findings

    assert (found.place, found.code) == (Place(2, 32), "unexpanded_variable")


def test_a_replaced_value_is_not_replaced_again() -> None:
    found = config("claude-code", {"command": "c", "args": ["${A}"]}, env={"A": "${B}", "B": "b"})

    assert found.servers[0]["args"] == ["${B}"]


@pytest.mark.parametrize("text", ["${workspaceFolder}/x", "${workspaceFolderBasename}"])
def test_a_workspace_that_is_not_known_is_a_finding(text: str) -> None:
    found = config("vscode", {"command": text})

    assert [each.code for each in found.findings] == ["unset_variable"]
    assert found.findings[0].message.endswith("; specify one (on the command line, --workspace DIR)")
    assert found.servers[0]["command"] == text


@pytest.mark.parametrize(
    ("name", "entry", "member"),
    [
        ("windsurf", {"serverUrl": "${env:A}"}, "url"),
        ("gemini", {"httpUrl": "$A"}, "url"),
        ("claude-code", {"command": "${A}"}, "command"),
    ],
)
def test_references_are_replaced_in_differently_named_fields(name: str, entry: dict[str, Any], member: str) -> None:
    assert config(name, entry, env={"A": "a"}).servers[0][member] == "a"


@pytest.mark.parametrize(("name", "text"), [("gemini", "$A"), ("vscode", "${env:A}")])
def test_references_are_replaced_in_the_directory(name: str, text: str) -> None:
    assert config(name, {"command": "c", "cwd": text}, env={"A": "a"}).entries[0].cwd == "a"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("$TOKEN_2", "$TOKEN_2"),
        ("$hunter2", "$…"),
        ("${token}", "${token}"),
        ("${TOKEN:-hunter2}", "${TOKEN:-…}"),
        ("${TOKEN:-}", "${TOKEN:-…}"),
        ("${hunter2 !}", "${…}"),
    ],
)
def test_a_reference_is_shown_without_possible_secrets(text: str, shown: str) -> None:
    assert Reference(text, "env").shown == shown


@pytest.mark.parametrize(
    ("message", "name", "text"),
    [
        ("${B} is not set and was not replaced", "claude-code", "${B}"),
        ("${env:A} is not set and was not replaced; in Claude Code, write ${A}", "claude-code", "${env:A}"),
        ("${A} is not a known variable and was not replaced; in VS Code, write ${env:A}", "vscode", "${A}"),
        ("VS Code asks the user for ${input:k}; pass --set k=VALUE (in Python, inputs=)", "vscode", "${input:k}"),
    ],
)
def test_a_finding_suggests_the_syntax_of_the_client(message: str, name: str, text: str) -> None:
    (found,) = config(name, {"command": "c", "args": [text]}).findings

    assert found.message == message


def test_an_input_that_the_file_does_not_define_is_reported() -> None:
    server = {"command": "c", "env": {"A": "${input:api-key}"}}
    text = json.dumps({"servers": {"a": server}, "inputs": [{"id": "api_key", "type": "promptString"}]})
    (found,) = read_config(text, source="f", format="vscode", env={}).findings

    assert found.code == "unknown_variable"
    assert found.message == '${input:api-key} is not one of the inputs of the file; did you mean "api_key"?'


@pytest.mark.parametrize(
    ("name", "text", "to", "becomes", "codes"),
    [
        ("claude-code", "x${A}y", "vscode", "x${env:A}y", []),
        ("vscode", "${env:A}", "claude-code", "${A}", []),
        ("vscode", "${env:A}", "gemini", "${A}", []),
        ("gemini", "$A", "cursor", "${env:A}", []),
        ("cursor", "${workspaceFolder}/${userHome}", "vscode", "${workspaceFolder}/${userHome}", []),
        ("claude-code", "${A:-d}", "vscode", "${A:-d}", ["variable_not_said"]),
        ("vscode", "${input:x}", "cursor", "${input:x}", ["variable_not_said"]),
        ("claude-code", "${A}", "claude-desktop", "${A}", ["variable_not_said"]),
        ("claude-desktop", "${A}", "claude-code", "${A}", ["would_be_replaced"]),
        ("claude-code", "$A", "gemini", "$A", ["would_be_replaced"]),
        ("vscode", "${command:x}", "vscode", "${command:x}", []),
        ("vscode", "${A}", "claude-code", "${A}", ["would_be_replaced"]),
        ("vscode", "${A}", "gemini", "${A}", ["would_be_replaced"]),
        ("vscode", "${A}", "cursor", "${A}", ["variable_not_said"]),
        ("vscode", "${command:x}", "claude-code", "${command:x}", ["variable_not_said"]),
        ("vscode", "${command:x}", "cursor", "${command:x}", ["variable_not_said"]),
        ("gemini", "${A:-b}", "claude-code", "${A:-b}", []),
        ("claude-code", "${A:-d}", "gemini", "${A:-d}", []),
        ("vscode", "${workspaceFolder}", "gemini", "${workspaceFolder}", ["variable_not_said"]),
        ("claude-code", "x${A}", "opencode", "x{env:A}", []),
        ("windsurf", "${file:/k}", "opencode", "{file:/k}", []),
        ("claude-desktop", "{env:A}", "opencode", "{env:A}", ["would_be_replaced"]),
        ("claude-code", "${A:-d}", "opencode", "${A:-d}", ["variable_not_said"]),
    ],
)
def test_a_reference_is_kept_if_the_other_client_supports_it(
    name: str, text: str, to: str, becomes: str, codes: list[str]
) -> None:
    written, lost = write_config(config(name, {"command": "c", "args": [text]}), to)

    (server,) = list(json.loads(written).values())[-1].values()
    assert (server["command"][1:] if to == "opencode" else server["args"]) == [becomes]
    assert [each.code for each in lost] == codes


def test_goose_replaces_in_headers_and_the_url_only_the_variables_of_the_entry() -> None:
    headers = {"X": "${KEY} ${OTHER} ${OWN}"}
    entry = {
        "type": "streamable_http",
        "uri": "https://h/${KEY}/$OWN",
        "env_keys": ["KEY"],
        "envs": {"OWN": "own"},
        "headers": headers,
    }
    (server,) = config("goose", entry, env={"KEY": "key", "OTHER": "other"}).servers

    assert server["url"] == "https://h/key/own"
    assert server["headers"] == [{"name": "X", "value": "key ${OTHER} own"}]


def test_goose_replaces_nothing_in_the_arguments() -> None:
    written, lost = write_config(config("vscode", {"command": "c", "args": ["${env:A}"]}), "goose")
    assert "- ${env:A}" in written
    assert [each.code for each in lost] == ["variable_not_said"]

    written, lost = write_config(config("vscode", {"command": "c", "args": ["$A"], "env": {"A": "${env:A}"}}), "goose")
    assert "- $A" in written
    assert lost == []


@pytest.mark.parametrize(
    ("client", "text"),
    [("claude-code", "${a.b}"), ("claude-code", "${A:-d}"), ("vscode", "${input:region}"), ("vscode", "${HOME}")],
)
def test_a_reference_that_goose_cannot_read_is_reported(client: str, text: str) -> None:
    written, lost = write_config(config(client, {"type": "http", "url": "https://h", "headers": {"X": text}}), "goose")

    assert "env_keys" not in written
    assert [each.code for each in lost] == ["variable_not_said"]


def test_equality_of_references_depends_on_their_meaning() -> None:
    one, same, other = Reference("$A", "env", "A"), Reference("${A}", "env", "A"), Reference("$B", "env", "B")
    place = Place(1, 1)

    assert (one == same, one == other) == (True, False)
    assert (Text((one,), place) == Text((same,), place), Text((one,), place) == Text((other,), place)) == (True, False)


def test_references_are_lost_in_acp() -> None:
    written, lost = write_config(config("claude-code", {"command": "c", "args": ["${A}"], "env": {"K": "${B}"}}), "acp")

    assert json.loads(written) == [
        {"name": "n", "command": "c", "args": ["${A}"], "env": [{"name": "K", "value": "${B}"}]}
    ]
    assert [each.message for each in lost] == [
        "ACP does not support variables; ${A} was not replaced",
        "ACP does not support variables; ${B} was not replaced",
    ]


def test_a_forwarded_variable_becomes_one_of_env_keys_in_goose() -> None:
    given = config("claude-code", {"command": "c", "env": {"TOKEN": "${TOKEN}", "OTHER": "x"}})
    written, lost = write_config(given, "goose")

    assert lost == []
    assert written == (
        "extensions:\n  n:\n    enabled: true\n    type: stdio\n    name: n\n    description: ''\n    cmd: c\n"
        "    envs:\n      OTHER: x\n    args: []\n    env_keys:\n    - TOKEN\n"
    )
    as_acp, lost = write_config(read_config(written, source="f.yaml", env={}), "acp")
    assert {"name": "TOKEN", "value": "${TOKEN}"} in json.loads(as_acp)[0]["env"]
    assert [each.code for each in lost] == ["variable_not_said"]
    again, _ = write_config(read_config(written, source="f.yaml", env={}), "claude-code")
    assert json.loads(again)["mcpServers"]["n"]["env"] == {"TOKEN": "${TOKEN}", "OTHER": "x"}


@pytest.mark.parametrize(
    ("env", "passed"),
    [({}, []), ({"KEY": ""}, [{"name": "KEY", "value": ""}]), ({"KEY": "k"}, [{"name": "KEY", "value": "k"}])],
)
@pytest.mark.parametrize(
    ("source", "member", "text"),
    [
        ("config.toml", "env", 'mcp_servers.n = {command = "c", env_vars = ["KEY"]}'),
        ("config.toml", "headers", 'mcp_servers.n = {url = "https://h", env_http_headers = {KEY = "KEY"}}'),
        ("config.yaml", "env", "extensions: {n: {type: stdio, cmd: c, env_keys: [KEY]}}"),
    ],
)
def test_a_forwarded_variable_that_is_not_set_is_left_out(
    source: str, member: str, text: str, env: dict[str, str], passed: list[dict[str, str]]
) -> None:
    found = read_config(text, source=source, env=env)

    assert [each[member] for each in found.servers] == [passed]
    assert [each.code for each in found.findings] == ([] if env else ["unset_variable"])


def test_the_file_of_a_user_belongs_to_no_project() -> None:
    text = json.dumps({"mcpServers": {"n": {"command": "${workspaceFolder}/x"}}})

    env = {"HOME": "/h", "USERPROFILE": "/h"}

    (of_a_project,) = read_config(text, source="/h/p/.cursor/mcp.json", env=env).servers
    (of_the_user,) = read_config(text, source="/h/.cursor/mcp.json", env=env).servers
    (at_home,) = read_config(text.replace("mcpServers", "servers"), source="/h/.vscode/mcp.json", env=env).servers

    assert of_a_project["command"] == f"{os.path.abspath('/h/p')}/x"
    assert of_the_user["command"] == "${workspaceFolder}/x"
    assert at_home["command"] == f"{os.path.abspath('/h')}/x"


def test_an_extension_of_gemini_knows_its_directory() -> None:
    server = {
        "command": "node",
        "args": ["${extensionPath}${/}dist${pathSeparator}x.js", "${workspacePath}"],
        "cwd": "${extensionPath}",
    }
    text = json.dumps({"name": "x", "mcpServers": {"n": server}})
    found = read_config(text, source="/h/x/gemini-extension.json", env={"HOME": "/h"}, workspace="/w")

    directory = os.path.abspath("/h/x")
    assert found.servers[0]["args"] == [os.sep.join([directory, "dist", "x.js"]), "/w"]
    assert (found.entries[0].cwd, found.findings) == (directory, ())
    assert json.loads(write_config(found, "gemini")[0])["mcpServers"] == {"n": server}


@pytest.mark.parametrize(
    ("source", "more", "cwd"),
    [
        ("/h/p/opencode.json", {}, "/h/p/d"),
        ("/h/p/.opencode/opencode.jsonc", {}, "/h/p/d"),
        ("/h/.config/opencode/opencode.json", {}, "d"),
        ("/x/opencode/opencode.json", {"XDG_CONFIG_HOME": "/x"}, "d"),
    ],
)
def test_a_directory_is_relative_to_the_project_of_opencode(source: str, more: dict[str, str], cwd: str) -> None:
    text = json.dumps({"mcp": {"n": {"type": "local", "command": ["c"], "cwd": "d"}}})

    (entry,) = read_config(text, source=source, env={"HOME": "/h", "USERPROFILE": "/h", **more}).entries
    assert entry.cwd == (os.path.abspath(cwd) if cwd != "d" else cwd)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude-code", "${TOKEN:-hunter2}"),
        ("claude-code", "x${hunter2 !}"),
        ("gemini", "pa$hunter2"),
        ("gemini", "pa${hunter2{}"),
        ("vscode", "${hunter2&}"),
    ],
)
def test_possible_parts_of_secrets_are_not_shown(name: str, text: str) -> None:
    given = config(name, {"command": "c", "env": {"SECRET": text}})
    found = [*given.findings, *(each for to in FORMATS for each in write_config(given, to)[1])]

    assert found
    assert not [each.message for each in found if "hunter2" in each.message]
    assert "hunter2" not in repr(given.entries[0].written)


TOKEN = {"TOKEN": "sk-token-of-the-user", "BASE": "https://h.example/tenants/sk-tenant-of-the-user", "HOME": "/home/me"}


@pytest.mark.parametrize(
    ("entry", "secrets"),
    [
        ({"command": "c", "args": ["plain", "--key=${TOKEN}", "${TOKEN}${SHORT}"]}, ("sk-token-of-the-user", "pw12")),
        ({"command": "c", "args": ["${HOME}/data", "${PATH}", "${UNSET:-default}", "${UNSET}"]}, ()),
        ({"command": "${TOKEN}", "env": {"A": "${TOKEN}"}}, ()),
        ({"url": "https://h.example/${TOKEN}/mcp"}, ("sk-token-of-the-user",)),
        ({"url": "https://h.example/a${SHORT}b"}, ("pw12",)),
        ({"url": "${BASE}/mcp?key=${TOKEN}"}, ("sk-tenant-of-the-user",)),
        ({"url": "https://${SHORT}.example/mcp", "headers": {"A": "${TOKEN}"}}, ()),
        ({"url": "${SHORT}"}, ()),
    ],
)
def test_values_of_variables_in_arguments_and_in_the_path_of_a_url_are_secrets(
    entry: dict[str, Any], secrets: tuple[str, ...]
) -> None:
    env = {**TOKEN, "SHORT": "pw12", "PATH": "/usr/bin"}

    (found,) = config("claude-code", entry, env=env).entries

    assert tuple(dict.fromkeys(found.secrets)) == secrets
    assert "sk-" not in repr(found)

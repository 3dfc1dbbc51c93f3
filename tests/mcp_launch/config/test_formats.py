"""The files of each client, as it writes them itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tomlkit

from mcp_launch import UnusableInput
from mcp_launch.config import FORMATS, Config, Finding, read_config, write_config
from mcp_launch.config._formats import format_called
from mcp_launch.config._formats.map import MapFormat
from tests.mcp_launch.config.test_hostile import EXPECTED, FILES, SAMPLES
from tests.mcp_launch.config.test_variables import config as config_of


def read(sample: str, source: str, *, env: dict[str, str] | None = None, workspace: str | None = None) -> Config:
    return read_config((SAMPLES / sample).read_text("utf-8"), source=source, env=env or {}, workspace=workspace)


def pairs(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


@pytest.mark.parametrize("sample", EXPECTED)
def test_the_files_of_each_client_are_read_by_its_rules(sample: str) -> None:
    expected: dict[str, Any] = {"cwd": None, "rest": {}, **EXPECTED[sample]}
    config = read(sample, **expected.pop("given"))

    more: dict[str, Any] = {"disabled": False, "cwd": None, "timeout": None, "extra": {}}
    assert config.entries
    assert {
        "format": config.format,
        "cwd": config.cwd,
        "rest": config.rest,
        "entries": [
            {"place": [*entry.place], "server": entry.server, **{name: getattr(entry, name) for name in more}}
            for entry in config.entries
        ],
        "findings": [[each.line, each.column, each.server, each.code] for each in config.findings],
    } == {**expected, "entries": [{**more, **entry} for entry in expected["entries"]]}


def test_claude_code_reads_only_the_servers_of_the_user_without_a_workspace() -> None:
    config = read("claude.json", "/home/ada/.claude.json")

    assert [entry.name for entry in config.entries] == ["everywhere", "both"]
    assert [(each.line, each.code) for each in config.findings] == [(5, "other_project"), (15, "other_project")]


def test_claude_code_turns_servers_of_a_project_off_in_it() -> None:
    project = {"disabledMcpServers": ["own"], "mcpServers": {"own": {"command": "c"}, "on": {"command": "c"}}}
    text = json.dumps({"projects": {"/p": project}})

    config = read_config(text, source="f", format="claude-code", workspace="/p")
    assert [(entry.name, entry.disabled) for entry in config.entries] == [("own", True), ("on", False)]


def test_vscode_takes_numbers_for_texts_and_null_for_no_variable() -> None:
    entry = {"command": "c", "env": {"A": 1.5, "B": None, "C": "x", "D": True}}
    config = read_config(json.dumps({"mcp": {"inputs": [3], "servers": {"n": entry}}}), source="f", format="vscode")

    assert config.servers[0]["env"] == [{"name": "A", "value": "1.5"}, *pairs(C="x"), {"name": "D", "value": True}]
    assert config.rest == {"inputs": [3]}
    assert [each[2:] for each in config.findings] == [
        ("n", "not_read", "null removes B from the environment, which is not supported here")
    ]


@pytest.mark.parametrize(
    ("url", "kind"),
    [("https://h/sse", "sse"), ("https://h/sse/?a", "sse"), ("https://h/x?/sse", "http"), ("//[/sse", "http")],
)
@pytest.mark.parametrize("name", ["cursor", "windsurf"])
def test_a_url_that_ends_in_sse_uses_sse(name: str, url: str, kind: str) -> None:
    assert config_of(name, {"url": url}).servers[0]["type"] == kind


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"url": "http://h/mcp"}, "http"),
        ({"url": "http://h/sse"}, "sse"),
        ({"httpUrl": "http://h/sse"}, "http"),
        ({"url": "http://h/sse", "type": "http"}, "http"),
        ({"url": "http://h/mcp", "type": "sse"}, "sse"),
        ({"url": "http://h/mcp", "command": "c"}, "http"),
    ],
)
def test_gemini_takes_a_url_for_http_unless_it_says_sse(entry: dict[str, Any], kind: str) -> None:
    assert config_of("gemini", entry).servers[0]["type"] == kind


@pytest.mark.parametrize(
    ("entry", "server"),
    [
        ({"source": "extension"}, None),
        ({"settings": {}}, None),
        ({"source": "custom"}, {"type": "stdio"}),
        ({"settings": {}, "command": "c"}, {"type": "stdio", "command": "c"}),
        ({"settings": {}, "url": "http://h"}, {"type": "http", "url": "http://h"}),
        ({"command": "c", "url": "http://h"}, {"type": "stdio", "command": "c"}),
        ({"command": {"path": "c", "args": None}}, {"type": "stdio", "command": "c"}),
    ],
)
def test_zed_starts_entries_with_a_command_or_a_url(entry: dict[str, Any], server: dict[str, Any] | None) -> None:
    config = config_of("zed", entry)

    assert config.servers == ([] if server is None else [{"name": "n", **server}])
    assert [each.code for each in config.findings if each.code == "not_in_file"] == ["not_in_file"] * (server is None)


_UNUSED = "has no effect in a server of this type"
_TWICE = "the variable K occurs twice in env; the last value is used"


@pytest.mark.parametrize(
    ("entry", "column", "code", "says"),
    [
        ({"command": "/c", "url": "http://h", "args": [], "env": []}, 33, "unused_member", f"url {_UNUSED}"),
        ({"type": "http", "url": "http://h", "command": "/c"}, 51, "unused_member", f"command {_UNUSED}"),
        ({"type": "sse", "url": "http://h", "command": "/c"}, 50, "unused_member", f"command {_UNUSED}"),
        ({"command": "/c", "env": [*pairs(A="1", K="v"), *pairs(K="w")]}, 99, "repeated_variable", _TWICE),
    ],
)
def test_parts_of_acp_entries_without_effect_are_reported(
    entry: dict[str, Any], column: int, code: str, says: str
) -> None:
    entry = {"name": "n", **entry}
    config = read_config(json.dumps([entry]), source="f")

    assert (config.servers, config.findings) == ([entry], (Finding(1, column, "n", code, says),))


def test_a_member_that_is_not_supported_here_is_not_suggested() -> None:
    (found,) = read_config("mcp_servers.n = {command = 'c', environment = {}}", source="config.toml", env={}).findings

    assert found.message == "Codex does not support 'environment'"


def test_an_acp_entry_without_a_name_is_called_by_its_place() -> None:
    config = read_config('[{"name": ""}, {"name": 5}, {}, 5]', source="f")

    assert [(entry.name, entry.place.column) for entry in config.entries] == [
        ("mcpServers[0]", 11),
        ("mcpServers[1]", 25),
        ("mcpServers[2]", 29),
        ("mcpServers[3]", 33),
    ]


@pytest.mark.parametrize(
    ("sample", "name"), [each for each in FILES.items() if each[1] not in {"claude-desktop", "cursor"}]
)
def test_the_shape_determines_the_format_if_the_name_does_not(sample: str, name: str) -> None:
    source = "Some.YAML" if sample.endswith("yaml") else "standard input"
    assert read(sample, source).format == name


def test_the_shape_counts_more_than_the_name() -> None:
    assert read_config('{"context_servers": {}}', source="/p/.gemini/settings.json").format == "zed"
    assert read_config("[]", source="claude_desktop_config.json").format == "acp"
    assert read_config('{"extensions": {"a": {"cmd": "c"}}}', source=".mcp.json").format == "goose"


def test_servers_in_a_field_of_another_client_are_reported() -> None:
    both = '{"servers": {"a": {"command": "c"}}, "mcpServers": {"b": {"command": "c"}}}'
    zeds = '{"mcpServers": {"b": {"command": "c"}}, "context_servers": {"a": {}, "c": {}}}'

    for text, source, name, column, (member, client, unread) in (
        (both, ".mcp.json", "b", 2, ("servers", "Claude Code", "a")),
        (both, ".vscode/mcp.json", "a", 38, ("mcpServers", "VS Code", "b")),
        (zeds, ".mcp.json", "b", 41, ("context_servers", "Claude Code", "a, c")),
    ):
        config = read_config(text, source=source)
        says = f"{member} is not used by {client}, so these servers are not read: {unread}"
        assert [entry.name for entry in config.entries] == [name]
        assert config.findings == (Finding(1, column, None, "other_client", says),)


def test_a_comment_is_refused_where_the_client_refuses_it() -> None:
    text = '{\n  // mine\n  "mcpServers": {}\n}'

    with pytest.raises(UnusableInput, match=r"^claude_desktop_config.json:2:3: not JSON: .*comments are not allowed"):
        read_config(text, source="claude_desktop_config.json")
    with pytest.raises(UnusableInput, match=r"^-:2:3: not JSON: .*comments are not allowed"):
        read_config(text, source="-")
    assert read_config(text.replace("mcpServers", "servers"), source="-").format == "vscode"
    assert read_config(text, source=".gemini/settings.json").format == "gemini"
    with pytest.raises(UnusableInput, match=r"^.gemini/settings.json:1:18: not JSON"):
        read_config('{"mcpServers": {},}', source=".gemini/settings.json")


NO_SERVERS: list[tuple[str, str, str]] = [
    ("3", "f", "1:1: contains no mcpServers"),
    ("{}", "f", "1:1: contains no mcpServers"),
    ('{"method": "initialize", "params": {}}', "f", '1:12: a "initialize" request does not contain servers'),
    ('{"method": "session/new"}', "f", "1:1: contains no mcpServers"),
    ('{"method": "session/new", "params": {}}', "f", "1:37: contains no mcpServers"),
    ('{"mcpServers": "x"}', "f", "1:16: mcpServers must be an array or a map"),
    ('{"mcpServers": [], "cwd": 1}', "f", "1:27: cwd must be"),
    ('{"mcpServers": {"a": {}, "a": {}}}', "f", "1:26: the name 'a' occurs twice"),
    ('{"servers": []}', ".vscode/mcp.json", "1:13: servers must be a map of servers, not an array"),
    ("{}", ".vscode/mcp.json", '1:1: contains no "servers" or "mcp.servers", where VS Code looks for servers\n'),
    (
        '{"mcpServers": {"a": {"command": "c"}}}',
        ".vscode/mcp.json",
        '1:1: contains no "servers" or "mcp.servers", where VS Code looks for servers; rename "mcpServers", which',
    ),
    ('{"mcpservers": {}}', "f", '1:1: contains no mcpServers; is "mcpservers" meant to be mcpServers?'),
    ('{"mcp_servers": {}, "cwd": "/"}', "f", '1:1: contains no mcpServers; is "mcp_servers" meant to be mcpServers?'),
    ('{"method": "session/new", "params": {"mcpServer": []}}', "f", '1:37: contains no mcpServers; is "mcpServer"'),
    (
        '{"mcpservers": {}}',
        ".mcp.json",
        '1:1: contains no "mcpServers", where Claude Code looks for servers; is "mcpservers" meant to be mcpServers?',
    ),
    (
        '{"command": "npx", "args": []}',
        "f",
        "1:1: contains no mcpServers; is it a server? Put it there, in a map of servers by name",
    ),
    (
        '{"web": {"url": "https://h/"}}',
        "claude_desktop_config.json",
        '1:1: contains no "mcpServers", where Claude Desktop looks for servers; is "web" a server? Put it there',
    ),
    (
        '{"statusLine": {"command": "date"}, "permissions": {"deny": []}}',
        ".mcp.json",
        '1:1: contains no "mcpServers", where Claude Code looks for servers\n',
    ),
    ("fs: {cmd: npx}", "x.yml", '1:1: contains no "extensions", where Goose looks for servers; is "fs" a server?'),
    ('{"extensions": {"disabled": ["a"]}}', ".gemini/settings.json", '1:1: contains no "mcpServers", where Gemini CLI'),
    (
        '{"mcpServers": {"command": "c", "args": [], "env": {"A": "b"}}}',
        ".mcp.json",
        '1:16: mcpServers is a server, not a map of servers; write {"NAME": {…}}',
    ),
    ('{"servers": {"servers": {"a": {"url": "u"}}}}', ".vscode/mcp.json", "1:25: servers contains servers again"),
    ("extensions: 3", "x.yml", "1:13: extensions must be a map of servers, not a number"),
]


@pytest.mark.parametrize(("text", "source", "says"), NO_SERVERS)
def test_files_without_servers_are_rejected_clearly(text: str, source: str, says: str) -> None:
    with pytest.raises(UnusableInput) as raised:
        read_config(text, source=source)

    assert f"{raised.value}\n".startswith(f"{source}:{says}")


@pytest.mark.parametrize(
    "servers",
    ['"url": {"url": "u"}', '"mcpServers": {"command": "c"}', '"mcpServers": {"a": {"url": "u"}}, "b": {"url": "u"}'],
)
def test_servers_may_have_the_names_of_members(servers: str) -> None:
    assert read_config(f'{{"mcpServers": {{{servers}}}}}', source=".mcp.json").entries


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UnusableInput, match="unknown format 'emacs'; use one of acp, claude-desktop, "):
        read_config("{}", source="f", format="emacs")


@pytest.mark.requirement("R69")
@pytest.mark.parametrize(
    ("entry", "acp"),
    [
        (
            {"command": "npx", "args": ["-y", "x"], "env": {"K": "v"}},
            {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": [{"name": "K", "value": "v"}]},
        ),
        ({"command": "c"}, {"type": "stdio", "command": "c"}),
        ({"url": "http://h"}, {"type": "http", "url": "http://h"}),
        ({"type": "sse", "url": "http://h"}, {"type": "sse", "url": "http://h", "headers": []}),
        (
            {"type": "streamable-http", "url": "http://h", "headers": {"A": "b"}},
            {"type": "http", "url": "http://h", "headers": [{"name": "A", "value": "b"}]},
        ),
        ({"type": "streamableHttp", "url": "http://h"}, {"type": "http", "url": "http://h"}),
        ({"transport": "sse", "url": "http://h", "headers": {}}, {"type": "sse", "url": "http://h", "headers": []}),
        (5, {}),
    ],
)
def test_a_desktop_map_becomes_acp(entry: object, acp: dict[str, Any]) -> None:
    config = read_config(json.dumps({"mcpServers": {"n": entry}}), source="f")

    assert config.servers == [{"name": "n", **acp}]


SERVER: dict[str, Any] = {"name": "n", "command": "/c", "args": [], "env": []}


@pytest.mark.requirement("R69")
@pytest.mark.parametrize(
    ("value", "servers", "cwd"),
    [
        ([SERVER], [SERVER], None),
        ({"cwd": "/p", "mcpServers": [SERVER]}, [SERVER], "/p"),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/p", "mcpServers": [SERVER]}},
            [SERVER],
            "/p",
        ),
        ({"method": "session/load", "params": {"cwd": "/p", "mcpServers": None}}, [], "/p"),
        (
            {"mcpServers": {"n": {"command": "/c"}}, "cwd": "/p"},
            [{"type": "stdio", "name": "n", "command": "/c"}],
            "/p",
        ),
    ],
)
def test_acp_forms_are_passed_on_as_they_are(value: object, servers: list[Any], cwd: str | None) -> None:
    config = read_config(json.dumps(value), source="f")

    assert (config.format, config.servers, config.cwd) == ("acp", servers, cwd)


_NO_MAP = "must be a map of names and strings, not"
_NO_START = "does not start servers of type"
_ELSEWHERE = "http from this file; add a public URL as a connector in its settings, or write "
_IN_GOOSE = ("builtin", "platform", "frontend", "inline_python")


@pytest.mark.parametrize(
    ("name", "entry", "code", "says"),
    [
        ("claude-code", {"commnd": "x"}, "unknown_member", "Claude Code does not support 'commnd'; did you mean"),
        ("claude-code", {"type": "http", "url": "http://h", "env": {"K": "v"}}, "unused_member", f"env {_UNUSED}"),
        ("claude-code", {"type": "sse", "url": "http://h", "args": ["x"]}, "unused_member", f"args {_UNUSED}"),
        ("claude-code", ["x"], "wrong_type", "a server must be a map, not an array"),
        ("claude-code", {"command": "x", "timeout": "5"}, "wrong_type", "timeout must be a number"),
        ("claude-code", {"command": "x", "headersHelper": "h"}, "not_read", "headersHelper is not supported here"),
        ("acp", {"command": "c", "env": pairs(K="v")}, "wrong_type", f"env {_NO_MAP} an array"),
        ("claude-code", {"command": "c", "env": ["K=v"]}, "wrong_type", f"env {_NO_MAP} an array"),
        ("vscode", {"command": "c", "env": "K=v"}, "wrong_type", f"env {_NO_MAP} a string"),
        ("claude-code", {"command": "c", "env": "${KEYS:-K=v}"}, "wrong_type", f"env {_NO_MAP} a string"),
        ("cursor", {"url": "http://h", "headers": pairs(K="v")}, "wrong_type", f"headers {_NO_MAP} an array"),
        ("goose", {"type": "stdio", "cmd": "c", "envs": ["K=v"]}, "wrong_type", f"envs {_NO_MAP} an array"),
        ("claude-desktop", {"url": "https://h/mcp"}, "other_transport", f"Claude Desktop {_NO_START} http"),
        ("claude-desktop", {"type": "sse", "url": "http://h"}, "other_transport", f"Claude Desktop {_NO_START} sse"),
        ("claude-desktop", {"serverUrl": "u"}, "other_transport", f"Claude Desktop {_NO_START} {_ELSEWHERE}"),
        ("zed", {"type": "sse", "url": "https://h/mcp"}, "other_transport", f"Zed {_NO_START} sse"),
        ("goose", {"type": "sse", "uri": "http://h", "enabled": True}, "other_transport", f"Goose {_NO_START} sse"),
        *(("goose", {"type": kind}, "not_in_file", "") for kind in _IN_GOOSE),
    ],
)
def test_problems_of_an_entry_are_findings(name: str, entry: Any, code: str, says: str) -> None:
    config = config_of(name, entry)

    (finding,) = config.findings
    assert (finding.code, finding.server) == (code, "n")
    assert finding.message.startswith(says)
    assert bool(config.entries) == (code != "not_in_file")


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("claude_desktop_config.json", ["byte_order_mark"]),
        (".gemini/settings.json", ["byte_order_mark"]),
        ("mcp_config.json", ["byte_order_mark"]),
        (".cursor/mcp.json", []),
        ("f", []),
    ],
)
def test_a_byte_order_mark_is_a_finding_if_the_client_rejects_it(source: str, codes: list[str]) -> None:
    text = '{"mcpServers": {"n": {"command": "c"}}}'
    marked = read_config(f"\ufeff{text}", source=source, env={})

    assert ([each.code for each in marked.findings], marked.entries[0].name) == (codes, "n")
    assert read_config(text, source=source, env={}).findings == ()


def test_a_byte_order_mark_does_not_hide_that_a_file_is_toml() -> None:
    assert read_config("\ufeff[mcp_servers.n]\ncommand = 'c'\n", source="f", env={}).format == "codex"


@pytest.mark.parametrize(
    ("name", "member", "value", "wanted"),
    [
        ("vscode", "cwd", 5, "a string"),
        ("windsurf", "disabled", "yes", "true or false"),
        ("zed", "enabled", 0, "true or false"),
        ("gemini", "timeout", True, "a number"),
        ("gemini", "timeout", -1, "a number"),
    ],
)
def test_a_field_of_the_wrong_type_is_ignored_and_preserved(name: str, member: str, value: object, wanted: str) -> None:
    config = config_of(name, {"command": "c", member: value})

    (entry,) = config.entries
    assert (entry.cwd, entry.timeout, entry.disabled, entry.extra) == (None, None, False, {member: value})
    assert [(each.code, each.message) for each in config.findings] == [
        ("wrong_type", f"{member} must be {wanted}; it was ignored")
    ]


def test_null_fields_are_ignored() -> None:
    assert read_config('{"mcpServers": null}', source="f", format="claude-code").entries == ()
    server = dict.fromkeys(("args", "env", "cwd", "timeout", "headers"))
    config = read_config(json.dumps({"mcpServers": {"n": {"command": "c", **server}}}), source="f", format="gemini")

    assert config.findings == ()


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"url": "https://h/mcp"}, "http"),
        ({"url": "https://h/sse"}, "sse"),
        ({"url": "${BASE:-https://h}/mcp"}, "http"),
        ({"url": "https://h/events", "transport": "sse"}, "sse"),
    ],
)
def test_claude_code_takes_a_url_without_a_type_for_a_program(entry: dict[str, str], kind: str) -> None:
    text = json.dumps({"mcpServers": {"n": entry}})
    says = f'has no type, so Claude Code treats it as a command and rejects it; add "type": "{kind}"'
    warned = (Finding(1, 17, "n", "missing_type", says),)

    assert read_config(text, source=".mcp.json", env={}).findings == warned
    assert read_config(text, source="f", format="claude-code", env={}).findings == warned


def test_the_projects_field_identifies_a_file_of_claude_code() -> None:
    text = json.dumps({"projects": {"/p": {"mcpServers": {"n": {"command": "c"}}}}, "mcpServers": []})
    config = read_config(text, source=".claude.json", workspace="/p", env={})

    assert (config.format, [entry.name for entry in config.entries]) == ("claude-code", ["n"])


def test_a_url_with_a_command_does_not_lack_a_type() -> None:
    text = json.dumps({"mcpServers": {"n": {"url": "https://h/mcp", "command": "c"}}})

    assert "missing_type" not in [each.code for each in read_config(text, source=".mcp.json", env={}).findings]


@pytest.mark.parametrize("source", ["f", "standard input"])
def test_rules_of_one_client_are_not_applied_to_other_files(source: str) -> None:
    servers = {"a": {"url": "https://h/mcp"}, "b": {"type": "sse", "url": "https://h/sse"}}

    assert read_config(json.dumps({"mcpServers": servers}), source=source).findings == ()
    assert read_config(json.dumps({"cwd": "/p", "mcpServers": servers}), source="f", format="acp").findings == ()


ONE = '{"a": {"command": "c"}}'
ACP = '{"name": "a", "command": "c", "args": [], "env": []}'


@pytest.mark.parametrize(
    ("source", "text", "column", "client", "looks", "chosen"),
    [
        (".mcp.json", f'{{"inputs": [], "servers": {ONE}}}', 16, "Claude Code", "looks for mcpServers", "VS Code"),
        (".mcp.json", f'{{"mcp": {{"servers": {ONE}}}}}', 2, "Claude Code", "looks for mcpServers", "VS Code"),
        ("claude_desktop_config.json", f"[{ACP}]", 1, "Claude Desktop", "looks for mcpServers", "ACP"),
        (".mcp.json", f'{{"mcpServers": [{ACP}]}}', 2, "Claude Code", "needs a map as mcpServers", "ACP"),
    ],
)
def test_a_file_in_the_format_of_another_client_is_reported(
    *, source: str, text: str, column: int, client: str, looks: str, chosen: str
) -> None:
    config = read_config(text, source=source)

    says = f"{client} will not find these servers: it {looks}, but they are in the format of {chosen}"
    assert [entry.name for entry in config.entries] == ["a"]
    assert config.findings == (Finding(1, column, None, "other_client", says),)


def test_config_and_findings_do_not_show_secrets() -> None:
    config = read("goose_config.yaml", "config.yaml", env={"GITHUB_TOKEN": "hunter2", "REMOTE_TOKEN": "hunter2"})

    assert "hunter2" not in repr(config)
    assert "Bearer" not in repr(config)


@pytest.mark.parametrize("kind", ["local", "streamable-http", "websocket", ["x"]])
def test_vscode_ignores_a_type_that_it_does_not_know(kind: object) -> None:
    assert config_of("vscode", {"type": kind, "command": "c"}).servers == [
        {"type": "stdio", "name": "n", "command": "c"}
    ]
    assert config_of("vscode", {"type": kind, "url": "http://h/sse"}).servers[0]["type"] == "http"


@pytest.mark.parametrize("source", ["opencode.json", "f"])
def test_the_newer_map_of_opencode_is_read_too(source: str) -> None:
    local = {"type": "local", "command": ["c"]}
    newer = {"a": {**local, "timeout": {"startup": 1, "execution": 5000}}, "off": {**local, "disabled": True}}
    mcp: dict[str, Any] = {
        "timeout": 5000,
        "servers": {**newer, "b": {**local, "timeout": {}}, "c": {"disabled": True}},
        "old": {**local, "enabled": False},
    }
    config = read_config(json.dumps({"mcp": mcp}), source=source)

    found = [(entry.name, entry.timeout, entry.disabled) for entry in config.entries]
    assert found == [("old", None, True), ("a", 5.0, False), ("off", None, True), ("b", None, False)]
    noted = [("off", "disabled"), ("c", "not_in_file"), ("old", "disabled")]
    assert [(each.server, each.code) for each in config.findings] == noted
    assert config.entries[1].path == ("mcp", "servers", "a")
    assert read_config(json.dumps({"mcp": {"servers": newer}}), source=source).format == "opencode"


def test_disabled_and_timeout_are_not_those_of_claude_code_in_a_file_that_may_be_of_another_client() -> None:
    servers = {"on": {"command": "c", "disabled": False, "timeout": 60}, "off": {"command": "c", "disabled": True}}
    text = json.dumps({"mcpServers": servers})
    config = read_config(text, source="cline_mcp_settings.json")
    own = read_config(text, source=".mcp.json")

    assert [(each.server, each.message) for each in config.findings] == [
        ("off", "is disabled in the file and not started")
    ]
    assert [(each.disabled, each.timeout, each.extra) for each in config.entries] == [
        (False, None, {"timeout": 60}),
        (True, None, {}),
    ]
    assert [each.message for each in write_config(config, "codex")[1]] == [
        "Codex does not support 'timeout', or uses it differently; it was omitted"
    ]
    assert [(each.disabled, each.timeout) for each in own.entries] == [(False, 0.06), (False, None)]


def test_an_entry_that_goose_skips_is_reported() -> None:
    extensions = {"a": {"type": "stdio", "cmd": "c"}, "b": {"type": "streamable_http", "uri": "http://h"}}
    config = read_config(json.dumps({"extensions": extensions}), source="f", format="goose")

    assert [(each.server, each.code, each.message) for each in config.findings] == [
        ("a", "missing_member", "has no enabled, so Goose skips it"),
        ("a", "missing_member", "has no args, so Goose skips it"),
        ("b", "missing_member", "has no enabled, so Goose skips it"),
    ]


@pytest.mark.parametrize(
    ("entry", "member"),
    [
        ({"command": "c", "oauth": {}}, "oauth"),
        ({"command": "c", "bearer_token_env_var": "T"}, "bearer_token_env_var"),
        ({"url": "https://h", "env_vars": ["T"]}, "env_vars"),
        ({"url": "https://h", "cwd": "/"}, "cwd"),
    ],
)
def test_members_with_which_codex_rejects_the_file_are_reported(entry: dict[str, Any], member: str) -> None:
    reading = read_config(tomlkit.dumps({"mcp_servers": {"n": entry}}), source="config.toml", env={"T": "t"})

    says = f"{member} is for servers of the other type, so Codex rejects the whole file"
    assert [(each.code, each.message) for each in reading.findings] == [("unused_member", says)]


def test_a_project_of_codex_may_change_settings_of_a_server_of_the_user() -> None:
    text = "[mcp_servers.a]\ntool_timeout_sec = 9\n"
    env = {"HOME": "/h", "USERPROFILE": "/h"}
    project = read_config(text, source="/p/.codex/config.toml", env=env)
    user = read_config(text, source="/h/.codex/config.toml", env=env)
    moved = read_config(text, source="/p/.codex/config.toml", env={**env, "CODEX_HOME": "/p/.codex"})
    misspelt = read_config("mcp_servers.a.cmd = 'c'", source="/p/.codex/config.toml", env=env)

    assert [project.servers, [each.code for each in project.findings]] == [[], ["not_in_file"]]
    assert [(len(each.servers), each.findings) for each in (user, moved)] == [(1, ())] * 2
    assert [each.code for each in misspelt.findings] == ["unknown_member"]


def test_gemini_prefers_http_url_and_starts_only_allowed_servers() -> None:
    both = {"httpUrl": "http://h/mcp", "url": "http://h/sse", "type": "sse"}
    text = json.dumps({"mcp": {"allowed": ["a"]}, "mcpServers": {"a": both, "b": {"command": "c"}}})

    config = read_config(text, source="f", format="gemini")

    assert config.servers == [{"type": "http", "name": "a", "url": "http://h/mcp"}]
    assert [entry.disabled for entry in config.entries] == [False, True]


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"acp", "registry"}))
def test_a_type_is_advised_as_the_client_calls_it(name: str) -> None:
    known = format_called(name)

    assert isinstance(known, MapFormat)
    advised = {kind: getattr(known.phrases, kind) for kind in known.types if kind != "stdio"}
    assert all(each.endswith(f'set "type" to "{known.types[kind]}"') for kind, each in advised.items())

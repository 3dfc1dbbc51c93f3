"""Entries of `mcpServers` in the format of each version, and known problems with them."""

import re
from typing import Any

import pytest

from acp_bindings import DecodeError, decode, encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings._problems.transports import AS_PAIRS
from acp_bindings.setup._servers import servers_for, servers_remarks

SECRET = "hunter2-hunter2"
PAIRS = [{"name": "TOKEN", "value": SECRET}]
STDIO_V1: dict[str, Any] = {"name": "files", "command": "/bin/files", "args": ["-v"], "env": PAIRS}
STDIO_V2: dict[str, Any] = {"type": "stdio"} | STDIO_V1
HTTP: dict[str, Any] = {"type": "http", "name": "search", "url": "https://example.com/mcp", "headers": PAIRS}
SSE: dict[str, Any] = {"type": "sse", "name": "old", "url": "https://example.com/sse", "headers": []}
PACKAGES = [v1, v1_unstable, v2, v2_unstable]
WITHOUT_TYPE = {"name": "search", "url": "https://example.com"}
AS_HTTP = 'without a type it is read as stdio; write "type": "http"'


def written(protocol: Any, *servers: Any) -> list[Any]:
    return [decode(dict[str, Any], encode(each)) for each in servers_for(protocol, servers)]


def rules(*servers: Any, **options: Any) -> list[tuple[tuple[Any, ...], str, str]]:
    return [(each.path[1:], each.rule, each.severity) for each in servers_remarks(servers, **options)]


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("protocol", PACKAGES)
@pytest.mark.parametrize("origin", PACKAGES)
def test_servers_can_be_converted_between_all_packages(origin: Any, protocol: Any) -> None:
    old = STDIO_V1 if origin in (v1, v1_unstable) else STDIO_V2
    new = STDIO_V1 if protocol in (v1, v1_unstable) else STDIO_V2
    servers = [decode(origin.McpServer, each) for each in (old, HTTP)]
    assert written(protocol, *servers) == [new, HTTP]


@pytest.mark.requirement("R46", "R73")
@pytest.mark.parametrize("given", [STDIO_V1, STDIO_V2])
def test_stdio_servers_have_a_type_only_in_v2(given: Any) -> None:
    assert written(v1, given) == [STDIO_V1]
    assert written(v2, given) == [STDIO_V2]


@pytest.mark.requirement("R76", "R77")
def test_lists_that_are_optional_in_v2_are_sent_in_v1() -> None:
    bare = v2.McpServerStdio(name="s", command="/s"), v2.McpServerHttp(name="h", url="https://h")
    assert written(v1, *bare) == [
        {"name": "s", "command": "/s", "args": [], "env": []},
        {"type": "http", "name": "h", "url": "https://h", "headers": []},
    ]
    assert written(v1, {"name": "s", "command": "/s"}) == [{"name": "s", "command": "/s", "args": [], "env": []}]


@pytest.mark.requirement("R74", "R75", "R80", "R84")
def test_name_command_and_url_are_required() -> None:
    for missing, entry in (("name", STDIO_V1), ("command", STDIO_V1), ("name", HTTP), ("url", HTTP), ("url", SSE)):
        with pytest.raises(DecodeError) as raised:
            servers_for(v1, [STDIO_V1, {name: value for name, value in entry.items() if name != missing}])
        assert [(each.path, each.rule) for each in raised.value.issues if each.path[2] == missing] == [
            (("mcpServers", 1, missing), "missing")
        ]


@pytest.mark.requirement("R84")
def test_sse_is_for_v1() -> None:
    assert isinstance(servers_for(v1, [SSE])[0], v1.McpServerSse)
    assert isinstance(servers_for(v2, [SSE])[0], v2.OtherMcpServer)


def test_a_model_of_the_package_is_taken_as_it_is() -> None:
    server = decode(v1.McpServer, STDIO_V1)
    assert servers_for(v1, [server])[0] is server


def test_unknown_fields_of_a_newer_schema_are_preserved() -> None:
    newer = STDIO_V1 | {"_meta": {"a": 1}, "future": [1]}
    assert written(v2, decode(v1.McpServer, newer)) == [{"type": "stdio"} | newer]


def test_a_transport_unknown_to_v1_is_refused() -> None:
    with pytest.raises(DecodeError, match=r'mcpServers\[0\].type: "_mine" is not a transport'):
        servers_for(v1, [v2.OtherMcpServer(type="_mine")])
    assert written(v2, v2_unstable.OtherMcpServer(type="_mine")) == [{"type": "_mine"}]


@pytest.mark.requirement("R78", "R81")
@pytest.mark.parametrize(
    ("protocols", "entry", "name", "message"),
    [
        (PACKAGES, STDIO_V1 | {"env": {"TOKEN": SECRET}}, "env", f"Input should be a valid array; {AS_PAIRS}"),
        (PACKAGES, HTTP | {"headers": {"TOKEN": SECRET}}, "headers", f"Input should be a valid array; {AS_PAIRS}"),
        ([v1], STDIO_V1 | {"env": "x"}, "env", "Input should be a valid array"),
        ([v1], WITHOUT_TYPE, "command", f"Field required; {AS_HTTP}"),
        ([v2], WITHOUT_TYPE, "type", AS_HTTP),
        ([v1, v2], {"name": "files", "args": [], "env": []}, "command", "Field required"),
    ],
)
def test_an_invalid_server_is_refused_with_the_right_form(
    protocols: list[Any], entry: dict[str, Any], name: str, message: str
) -> None:
    for protocol in protocols:
        with pytest.raises(DecodeError) as raised:
            servers_for(protocol, [entry])
        first, *others = raised.value.issues
        assert (first.path, first.message) == (("mcpServers", 0, name), message)
        assert others == [] or (protocol, entry) == (v2, WITHOUT_TYPE)
        assert SECRET not in str(raised.value)


@pytest.mark.parametrize("given", [STDIO_V1, v1.McpServerStdio(name="s", command="/s", args=[], env=[]), "[]", b"[]"])
def test_a_single_server_or_a_string_is_not_accepted_as_a_list(given: Any) -> None:
    with pytest.raises(TypeError, match="must be a list of servers"):
        servers_for(v1, given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, r"^McpServer: mcpServers\[0\]: Input should be an object"),
        ("{}", r"^McpServer: mcpServers\[0\]: Input should be an object"),
        ([], r"^McpServer: mcpServers\[0\]: Input should be an object"),
        ({"type": [], "name": "x"}, r"^McpServer: mcpServers\[0\]\."),
        (STDIO_V1 | {"name": "\ud800"}, r"^McpServer: .*mcpServers\[0\]"),
    ],
)
def test_what_is_not_a_server_is_refused_at_its_place(given: Any, says: str) -> None:
    with pytest.raises(DecodeError, match=says):
        servers_for(v1, [given])


def test_valid_servers_have_no_remarks() -> None:
    assert rules(STDIO_V1, HTTP) == rules(STDIO_V2, HTTP, version=2) == []
    assert rules({"type": "stdio", "name": "s", "command": "C:\\s.exe"}, version=2) == []


def variables(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "value": SECRET} for name in names]


REMARKED: list[tuple[list[Any], dict[str, Any], list[tuple[tuple[Any, ...], str, str]]]] = [
    ([STDIO_V2], {}, [((0, "type"), "server-type", "warning")]),
    ([STDIO_V1], {"version": 2}, [((0, "type"), "server-type", "error")]),
    ([{"name": "h", "url": "https://h", "headers": []}], {}, [((0, "type"), "server-type", "error")]),
    ([{"name": "s", "command": "/s", "args": []}], {}, [((0, "env"), "server-list", "error")]),
    ([{"type": "http", "name": "h", "url": "https://h"}], {}, [((0, "headers"), "server-list", "error")]),
    ([STDIO_V1 | {"env": {"A": "b"}}], {}, [((0, "env"), "server-map", "error")]),
    ([HTTP | {"headers": {"A": "b"}}], {"version": 2}, [((0, "headers"), "server-map", "error")]),
    # v2 preserves an unknown type, which may be a newer one, unless it is probably misspelled.
    ([{"type": "pigeon", "name": "p"}], {}, [((0, "type"), "server-type", "error")]),
    ([{"type": "pigeon", "name": "p"}], {"version": 2}, []),
    ([HTTP | {"type": "htpp"}], {}, [((0, "type"), "server-type", "error")]),
    ([HTTP | {"type": "htpp"}], {"version": 2}, [((0, "type"), "server-type", "warning")]),
    ([{"type": 5, "name": "p"}], {"version": 2}, [((0, "type"), "server-type", "error")]),
    *(
        ([STDIO_V1 | {"command": command}], {}, [((0, "command"), "relative-command", "warning")])
        for command in ("npx", "./server", "~/bin/server", "C:server", "")
    ),
    ([STDIO_V1], {"flavour": "windows"}, [((0, "command"), "relative-command", "warning")]),
    ([STDIO_V1 | {"command": r"C:\files.exe"}], {"flavour": "windows"}, []),
    *(
        ([HTTP | {"name": name}], {}, [((0, "name"), "server-name", "warning")])
        for name in ("my files", "my\tfiles", "my.files", "", " ")
    ),
    *(([HTTP | {"name": name}], {}, []) for name in ("files", "my-files_2", "büro", "文件")),
    ([HTTP, STDIO_V1, HTTP], {}, [((2, "name"), "duplicate-server", "warning")]),
    ([HTTP, HTTP], {"version": 2}, [((1, "name"), "duplicate-server", "error")]),
    ([STDIO_V1 | {"env": variables("A", "B", "A")}], {}, [((0, "env", 2, "name"), "duplicate-env", "warning")]),
    ([STDIO_V1 | {"env": variables("Path", "PATH")}], {}, []),
    (
        [STDIO_V1 | {"command": "C:\\x", "env": variables("Path", "PATH")}],
        {"flavour": "windows"},
        [((0, "env", 1, "name"), "duplicate-env", "warning")],
    ),
    *(
        ([HTTP | {"headers": variables(name)}], {}, [])
        for name in ("Authorization", "X-API-Key", "Cookie", "Accept-Language", "mcp")
    ),
    *(
        ([HTTP | {"headers": variables("A", name)}], {}, [((0, "headers", 1, "name"), "transport-header", "warning")])
        for name in (
            *("Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "accept", "Host", "Last-Event-ID"),
            *("MCP-Session-Id", "mcp-protocol-version", "Mcp-Method", "Mcp-Name", "Mcp-Param-X"),
        )
    ),
    *(
        ([HTTP | {"headers": [pair]}], {}, [((0, "headers", 0), "header-line-break", "error")])
        for pair in (
            {"name": "A\r\nB", "value": ""},
            {"name": "A", "value": "b\nC: d"},
            {"name": "A", "value": "b\rC: d"},
        )
    ),
    ([SSE], {}, [((0, "type"), "sse-deprecated", "warning")]),
    ([SSE], {"version": 2}, [((0, "type"), "sse-deprecated", "error")]),
]


@pytest.mark.requirement("R46", "R74", "R75", "R77", "R78", "R81", "R82", "R85", "R86", "X8", "X9")
@pytest.mark.parametrize(("servers", "options", "expected"), REMARKED)
def test_each_problem_is_reported_at_its_place(servers: list[Any], options: dict[str, Any], expected: Any) -> None:
    assert rules(*servers, **options) == expected


def test_a_shell_command_line_is_distinguished_from_a_path() -> None:
    (remark,) = servers_remarks([STDIO_V1 | {"command": "npx -y files"}])
    assert str(remark) == (
        "mcpServers[0].command: it is not an absolute path; send the path from `which` (`where` on Windows, "
        'resolve_command in Python); it is one path, and its arguments belong in "args"'
    )
    assert remark.facts == {"command": "npx -y files"}


@pytest.mark.parametrize("version", [1, 2])
def test_remarks_skip_values_that_the_schema_refuses(version: int) -> None:
    odd: list[Any] = [None, 5, "x", [], {"type": 5}, {"type": None, "env": 5, "headers": [1, {}, {"name": 1}]}]
    rules = {remark.rule for each in odd for remark in servers_remarks([each], version=version)}
    assert rules == {"server-type"} if version == 2 else {"server-type", "server-list"}


def test_each_remark_has_facts_and_a_message() -> None:
    told: list[tuple[Any, int, dict[str, Any], str]] = [
        (STDIO_V2, 1, {"transport": "stdio"}, "remove it"),
        (SSE, 1, {"transport": "sse"}, "deprecated sse; use the http url"),
        (SSE, 2, {"transport": "sse"}, "v2 does not support sse"),
        ({"type": "http", "name": "h", "url": "https://h"}, 1, {"transport": "http"}, r"send \[\]"),
        (HTTP | {"name": " "}, 1, {"name": " "}, "it is empty"),
        (HTTP | {"name": "a b"}, 1, {"name": "a b"}, "white space"),
        (HTTP | {"name": "a.b"}, 1, {"name": "a.b"}, "a dot"),
        (HTTP | {"headers": [{"name": "Accept", "value": ""}]}, 1, {"name": "Accept"}, "is not sent"),
        (HTTP | {"headers": [{"name": "A", "value": "\n"}]}, 1, {"name": "A"}, "a line break"),
        (STDIO_V1 | {"env": PAIRS * 2}, 1, {"name": "TOKEN"}, "the last one wins"),
    ]
    for entry, version, facts, words in told:
        (remark,) = servers_remarks([entry], version=version)
        assert remark.facts == facts
        assert re.search(words, remark.message)
    for version, end in ((1, "has this name"), (2, "has this name; agents refuse this")):
        (again,) = servers_remarks([HTTP, HTTP], version=version)
        assert (again.facts, again.message.endswith(end)) == ({"name": "search"}, True)


@pytest.mark.requirement("R91")
def test_remarks_do_not_contain_secrets() -> None:
    pairs = [{"name": "Content-Type", "value": SECRET}] * 2 + [{"name": "A", "value": SECRET + "\n"}]
    bad = [STDIO_V2 | {"env": pairs, "command": "x"}, HTTP | {"headers": pairs}, SSE | {"headers": {"A": SECRET}}]
    for version in (1, 2):
        found = servers_remarks(bad, version=version)
        assert len(found) > 5
        assert SECRET not in repr(found)


def test_models_and_json_have_the_same_remarks() -> None:
    model = decode(v1.McpServer, STDIO_V1 | {"command": "npx", "name": "a b"})
    assert [each[1] for each in rules(model)] == ["server-name", "relative-command"]

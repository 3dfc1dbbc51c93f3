"""Entries of servers in every form, and the errors of invalid ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import Issue as SchemaIssue
from acp_bindings import v1, v1_unstable, v2, v2_unstable
from mcp_launch import LaunchFailure, launch
from mcp_launch._spec import HttpServer, SseServer, StdioServer, parse_server, schema_issue, transport_meant
from tests.mcp_launch.support import SECRET

STDIO: dict[str, Any] = {"name": "n", "command": "/c", "args": ["a"], "env": [{"name": "K", "value": "v"}]}
HTTP: dict[str, Any] = {"type": "http", "name": "n", "url": "https://h/mcp", "headers": []}


def refused(raw: object, *, index: int | None = None) -> LaunchFailure:
    """Return the failure of an invalid entry."""
    with pytest.raises(LaunchFailure) as raised:
        parse_server(raw, index=index)
    return raised.value


@pytest.mark.parametrize(
    ("raw", "spec"),
    [
        (STDIO, StdioServer(name="n", command="/c", args=("a",), env=(("K", "v"),))),
        ({"type": "stdio", **STDIO}, StdioServer(name="n", command="/c", args=("a",), env=(("K", "v"),))),
        ({"type": "stdio", "name": "n", "command": "/c"}, StdioServer(name="n", command="/c")),
        ({**STDIO, "args": None, "env": None}, StdioServer(name="n", command="/c")),
        (HTTP, HttpServer(name="n", url="https://h/mcp")),
        ({**HTTP, "headers": None}, HttpServer(name="n", url="https://h/mcp")),
        ({"type": "http", "name": "n", "url": "https://h/mcp"}, HttpServer(name="n", url="https://h/mcp")),
        ({**HTTP, "type": "sse"}, SseServer(name="n", url="https://h/mcp")),
        (
            {**STDIO, "_meta": {"a": 1}, "extra": True},
            StdioServer(name="n", command="/c", args=("a",), env=(("K", "v"),)),
        ),
    ],
)
def test_each_form_is_read(raw: dict[str, Any], spec: object) -> None:
    parsed = parse_server(raw)

    assert parsed == spec
    assert type(parsed) is type(spec)


@pytest.mark.requirement("R75", "R78", "R81")
@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (json.dumps(STDIO), ""),
        (json.dumps(STDIO).encode(), ""),
        ({key: value for key, value in STDIO.items() if key != "env"}, "/env"),
        ({key: value for key, value in STDIO.items() if key != "args"}, "/args"),
        ({**STDIO, "env": {"K": "v"}}, "/env"),
        ({**STDIO, "env": [{"name": "K"}]}, "/env/0/value"),
        ({**STDIO, "env": [{"name": "", "value": "v"}]}, "/env/0/name"),
        ({**STDIO, "env": [{"name": "A\0B", "value": "v"}]}, "/env/0/name"),
        ({**STDIO, "args": ["a", "b\0c"]}, "/args/1"),
        ({**STDIO, "command": "/c\0d"}, "/command"),
        ({**STDIO, "command": ""}, "/command"),
        ({**STDIO, "name": 3}, "/name"),
        ({"type": 3, **STDIO}, "/type"),
        ({**STDIO, "type": "http"}, "/type"),
        ({**HTTP, "type": "stdio"}, "/type"),
        ({"name": "n", "url": "https://h/mcp"}, "/type"),
        ({"type": "http", "name": "n"}, "/url"),
        ({"type": "sse", "name": "n", "url": "https://h/mcp"}, "/headers"),
        ({**HTTP, "url": "ftp://h/mcp"}, "/url"),
        ({**HTTP, "url": "h/mcp"}, "/url"),
        ({**HTTP, "url": "https:///mcp"}, "/url"),
        ({**HTTP, "url": "https://h/a b"}, "/url"),
        ({**HTTP, "headers": [{"name": "a b", "value": "v"}]}, "/headers/0/name"),
    ],
)
def test_an_invalid_field_is_named_by_its_path(raw: object, path: str) -> None:
    failure = refused(raw)

    assert (failure.stage, failure.code) == ("spec", "invalid_spec")
    assert path in [issue["path"] for issue in failure.facts["issues"]]
    assert path in str(failure)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({**STDIO, "env": [{"name": "K", "value": None}]}, "/env/0/value: has no value (of K)"),
        ({**STDIO, "env": [{"name": "K", "value": "a\0b"}]}, "/env/0/value: must not contain NUL (of K)"),
        ({**STDIO, "env": [{"value": "v"}]}, "/env/0/name: field required"),
        ({**STDIO, "env": [{"name": None, "value": "v"}]}, "/env/0/name: input should be a valid string"),
        (
            {**HTTP, "headers": [{"name": "A", "value": "v"}, {"name": "B", "value": None}]},
            "/headers/1/value: has no value (of B)",
        ),
        (
            {**HTTP, "headers": [{"name": "A", "value": "v\r\nB: w"}]},
            "/headers/0/value: must not contain line breaks or control characters (of A)",
        ),
        (
            {**STDIO, "env": [{"name": "PORT", "value": 80}]},
            "/env/0/value: input should be a valid string (of PORT); write it in quotes",
        ),
        (
            {**HTTP, "headers": [{"name": "X-Debug", "value": True}]},
            "/headers/0/value: input should be a valid string (of X-Debug); write it in quotes",
        ),
        ({**STDIO, "args": ["--port", 80]}, "/args/1: input should be a valid string; write it in quotes"),
        (
            {**STDIO, "args": "-y server"},
            '/args: input should be a valid array; write ["…", "…"], with each argument in its own quotes',
        ),
        (
            {**HTTP, "headers": [{"name": "Authorization:", "value": "v"}]},
            "/headers/0/name: is not the name of an HTTP header; remove the colon",
        ),
        (
            {**STDIO, "env": [{"name": "KEY=v", "value": ""}]},
            '/env/0/name: is not the name of an environment variable; the part after "=" belongs in its value',
        ),
        *(
            ({**HTTP, "url": f"https://h:{port}/mcp"}, "/url: has a port that is not a number from 0 to 65535")
            for port in ("99999", "port", "-1")
        ),
        *(
            ({**HTTP, "url": url}, "/url: contains a variable that was not expanded (MCP_X); write the value")
            for url in ("https://${MCP_X}/mcp", "https://me@${env:MCP_X}:80", "${env:MCP_X}/mcp", "$MCP_X/mcp")
        ),
        *(
            (
                {**STDIO, "command": url},
                f'/command: is a URL, not a program; give it as "url", with "type": "{kind}"',
            )
            for url, kind in (
                ("https://me:secret123@h/mcp?key=secret123", "http"),
                ("HTTP://h/api/sse", "sse"),
                ("http://[/secret123", "http"),
            )
        ),
    ],
)
def test_an_invalid_field_is_reported_with_how_to_write_it(raw: object, says: str) -> None:
    failure = refused(raw)

    assert failure.message == says


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({**STDIO, "env": [{"name": f"KEY={SECRET}"}]}, "KEY"),
        ({**STDIO, "env": [{"name": f"KEY={SECRET}", "value": "a\0b"}]}, "KEY"),
        ({**HTTP, "headers": [{"name": f"Authorization: Bearer {SECRET}", "value": None}]}, "Authorization"),
        ({**HTTP, "headers": [{"name": f"Authorization Bearer {SECRET}", "value": "a\nb"}]}, "Authorization"),
    ],
)
def test_a_value_in_place_of_a_name_is_not_shown(raw: object, named: str) -> None:
    failure = refused(raw)

    assert f"(of {named})" in failure.message
    assert SECRET not in str(failure.to_json())


@pytest.mark.parametrize(
    ("raw", "path", "says"),
    [
        ({"name": "n"}, "", 'a server must be a map with a "command", or with a "url" and its "type"'),
        ({"name": "n", "type": "stdio"}, "", 'a server must be a map with a "command", or with a "url" and its "type"'),
        (
            {"name": "n", "comand": "/c", "args": [], "env": []},
            "/command",
            'field required; is "comand" meant to be command?',
        ),
        ({"name": "n", "command": "/c", "arg": [], "env": []}, "/args", 'field required; is "arg" meant to be args?'),
        ({"name": "n", 5: "odd"}, "", 'a server must be a map with a "command", or with a "url" and its "type"'),
        ({"name": "n", "ulr": "http://h"}, "/url", 'field required; is "ulr" meant to be url?'),
        ({"name": "n", "type": "http", "uri": "http://h"}, "/url", 'field required; is "uri" meant to be url?'),
    ],
)
def test_an_entry_without_command_and_url_is_reported_with_what_is_missing(raw: object, path: str, says: str) -> None:
    failure = refused(raw)

    assert (failure.code, failure.message) == ("invalid_spec", f"{path or 'the entry'}: {says}")
    assert failure.facts == {"issues": [{"path": path, "rule": "missing", "message": says}]}


@pytest.mark.parametrize(
    ("raw", "name"), [({"name": "n"}, "n"), ({"name": 5}, "mcpServers[7]"), (None, "mcpServers[7]")]
)
def test_a_broken_entry_is_called_by_its_name_or_its_place(raw: object, name: str) -> None:
    failure = refused(raw, index=7)

    assert failure.server == name


def test_a_server_with_an_empty_name_is_named_by_its_position() -> None:
    assert parse_server({**STDIO, "name": ""}, index=7).name == "mcpServers[7]"
    assert parse_server({**HTTP, "name": ""}).name == "server"


PACKAGES: list[Any] = [v1, v1_unstable, v2, v2_unstable]
WITH_URL: dict[str, Any] = {"name": "n", "url": "https://h/mcp"}
MODELS = [
    *(
        package.McpServerStdio(name="n", command="/c", args=["a"], env=[package.EnvVariable(name="K", value="v")])
        for package in PACKAGES
    ),
    *(package.McpServerHttp(**WITH_URL, headers=[package.HttpHeader(name="A", value="b")]) for package in PACKAGES),
    *(package.McpServerSse(**WITH_URL, headers=[package.HttpHeader(name="A", value="b")]) for package in PACKAGES[:2]),
    v2.McpServerStdio(name="n", command="/c"),
    v2.McpServerHttp(**WITH_URL),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__module__}.{type(model).__name__}")
def test_the_models_of_all_four_packages_are_read(model: Any) -> None:
    spec = parse_server(model)

    assert type(spec).__name__ == type(model).__name__.removeprefix("McpServer") + "Server"
    if isinstance(spec, StdioServer):
        assert (spec.args, spec.env) in ((("a",), (("K", "v"),)), ((), ()))
    else:
        assert (spec.url, spec.headers in ((("A", "b"),), ())) == ("https://h/mcp", True)


@pytest.mark.requirement("R73", "D2")
@pytest.mark.parametrize("tag", ["acp", "websocket", "HTTP"])
def test_an_unknown_transport_is_not_taken_for_stdio(tag: str) -> None:
    failure = refused({**STDIO, "type": tag})

    assert (failure.code, failure.facts) == ("unsupported_transport", {"type": tag})


def test_a_misspelled_transport_is_reported_with_the_intended_one() -> None:
    failure = refused({**HTTP, "type": "htpp"})

    assert failure.code == "unsupported_transport"
    assert failure.message.endswith('the transports are stdio, http and sse; did you mean "http"?')


@pytest.mark.requirement("R91")
def test_the_representation_of_a_specification_shows_no_secret() -> None:
    stdio = parse_server({**STDIO, "env": [{"name": "K", "value": "secret123"}]})
    http = parse_server(
        {**HTTP, "url": "https://u:secret123@h/?k=secret123", "headers": [{"name": "A", "value": "secret123"}]}
    )

    assert "secret123" not in repr(stdio) + repr(http) + stdio.target + http.target
    assert http.target == "https://h/"


@pytest.mark.parametrize(
    ("message", "entry"),
    [
        ('Field required; it is spelt "Args" here', {"command": "/x", "Args": [], "env": []}),
        ("Input should be a valid array; write a list, not a map", {"command": "/x", "args": [], "env": {"A": "b"}}),
    ],
)
def test_advice_is_given_only_once(message: str, entry: object) -> None:
    rule = "missing" if message.startswith("Field") else "list_type"
    told = schema_issue(SchemaIssue(("args",) if rule == "missing" else ("env",), rule, message), entry)
    assert told["message"] == message[0].lower() + message[1:]


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ({"name": "n", "command": 3}, "stdio"),
        ({"type": "stdio", "name": "n"}, "stdio"),
        ({"type": None, "command": ""}, "stdio"),
        ({"type": "http", "url": 3}, "http"),
        ({"type": "sse", "url": "h"}, "sse"),
        ({"url": "https://h/mcp"}, "http"),
        ({"url": "https://h/sse"}, "sse"),
        ({"type": "http", "command": "c"}, "stdio"),
        ({"type": "streamable-http"}, "http"),
        ({"type": "acp", "name": "n", "serverId": "s"}, None),
        ({"type": "pigeon"}, None),
        ({"name": "n"}, None),
        ("npx foo", None),
        (v1.McpServerStdio(name="n", command="", args=[], env=[]), "stdio"),
        (v1.McpServerSse(name="n", url="h", headers=[]), "sse"),
        (v2.McpServerHttp(name="n", url="h"), "http"),
    ],
)
def test_the_intended_transport_of_a_broken_entry_follows_from_its_fields(entry: object, meant: str | None) -> None:
    assert transport_meant(entry) == meant


@pytest.mark.anyio
async def test_a_broken_entry_is_reported_with_the_transport_that_was_meant(tmp_path: Path) -> None:
    async with launch([{"name": "n", "command": 3}, {"name": "m"}], cwd=tmp_path) as fleet:
        assert [server.transport for server in fleet] == ["stdio", None]
        assert [(each["transport"], each["target"]) for each in fleet.report["servers"]] == [
            ("stdio", None),
            (None, None),
        ]

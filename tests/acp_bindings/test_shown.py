"""`repr` of models hides keys, passwords, and the arguments and environment of commands."""

from typing import Any

import pytest

from acp_bindings import decode, encode, v1, v1_unstable, v2
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.samples import SECRET

SERVER_WITH_A_NEWER_VARIABLE: Json = {
    "type": "stdio",
    "name": "n",
    "command": "/s",
    "env": [{"name": "A", "value": "", "old": SECRET}],
}


def test_the_values_of_env_and_headers_are_hidden() -> None:
    pair = {"name": "A", "value": SECRET}
    for model in (
        v1.McpServerStdio(name="n", command="/s", args=[], env=[v1.EnvVariable(name="A", value=SECRET)]),
        v1.McpServerHttp(name="n", url="https://h", headers=[v1.HttpHeader(name="A", value=SECRET)]),
        decode(v2.McpServer, {"type": "stdio", "name": "n", "command": "/s", "env": [pair]}),
        decode(v2.McpServer, {"type": "sse", "name": "n", "headers": [pair], "env": SECRET}),
        v1.AuthMethodTerminal(id="a", name="n", env={"A": SECRET}),
        v1_unstable.SetProviderRequest(provider_id="n", api_type="x", base_url="u", headers={"A": SECRET}),
    ):
        assert SECRET not in f"{model!r} {model}"
        assert "'n'" in repr(model)


@pytest.mark.parametrize(
    "members",
    [
        {"mcpServers": [{"type": "sse", "name": "n", "config": {"env": [{"name": "A", "value": SECRET}]}}]},
        {"mcpServers": [SERVER_WITH_A_NEWER_VARIABLE]},
        {"newer": [{"headers": {"Authorization": SECRET}}]},
        {"_meta": {"vendor": {"env": {"TOKEN": SECRET}}}},
    ],
    ids=["unknown server", "unknown member of a variable", "unknown member", "meta"],
)
def test_env_and_headers_are_hidden_at_any_depth(members: dict[str, Any]) -> None:
    given: Json = {"cwd": "/", **members}
    request = decode(v2.NewSessionRequest, given)
    assert SECRET not in f"{request!r} {request}"
    assert SECRET in encode(request).decode()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com:8080/mcp", "https://example.com:8080/mcp"),
        (f"https://example.com/mcp?key={SECRET}#{SECRET}", "https://example.com/mcp?…"),
        (f"https://example.com/mcp#{SECRET}?", "https://example.com/mcp#…"),
        (f"https://me:{SECRET}@example.com/@scope/mcp", "https://…@example.com/@scope/mcp"),
        (f"https://{SECRET}@me:{SECRET}@[::1]:80/?a", "https://…@[::1]:80/?…"),
        (f"me:{SECRET}@example.com/mcp", "…@example.com/mcp"),
        (f"https://me:{SECRET}?x@example.com/mcp", "…"),
        (f"https://me:{SECRET}/x@example.com/mcp", "…"),
        ("/messages?session=" + SECRET, "/messages?…"),
        ("", ""),
    ],
)
def test_the_user_and_query_of_a_url_are_hidden(url: str, shown: str) -> None:
    for model in (
        v1.McpServerHttp(name="n", url=url, headers=[]),
        v1.McpServerSse(name="n", url=url, headers=[]),
        v2.McpServerHttp(name="n", url=url),
        decode(v2.McpServer, {"type": "sse", "name": "n", "url": url}),
        v1_unstable.SetProviderRequest(provider_id="p", api_type="x", base_url=url),
        v1.NewSessionResponse(session_id="s", meta={"servers": [{"url": url}, {"baseUrl": url}]}),
    ):
        assert f"'{shown}'" in repr(model)
        assert SECRET not in f"{model!r} {model}"
        assert f'"{url}"' in encode(model).decode()


def test_the_arguments_of_a_command_are_hidden_except_for_their_number() -> None:
    given = [f"--api-key={SECRET}", SECRET]
    raw: Json = {"command": "/s", "args": given}
    for model in (
        v1.McpServerStdio(name="n", command="/s", args=given, env=[]),
        v2.McpServerStdio(name="n", command="/s", args=given),
        decode(v2.McpServer, {"type": "podman", "name": "n", **raw}),
        v1.CreateTerminalRequest(session_id="s", command="/s", args=given),
        v1.NewSessionResponse(session_id="s", meta={"servers": [raw]}),
    ):
        assert "['…', '…']" in repr(model)
        assert SECRET not in f"{model!r} {model}"
    odd = decode(v2.McpServer, {"type": "podman", "name": "n", "command": "/s", "args": SECRET})
    assert repr(odd) == "OtherMcpServer(type='podman', name='n', command='/s', args='…')"
    assert repr(v2.McpServerStdio(name="n", command="/s", args=[])).endswith("args=[])")


def test_arguments_of_a_login_method_are_shown() -> None:
    assert repr(v1.AuthMethodTerminal(id="tui", name="n", args=["--login"])).endswith("args=['--login'])")


def test_the_url_in_an_unknown_field_named_like_an_attribute_is_hidden() -> None:
    wrong: Json = {"apiType": "openai", "baseUrl": "https://h", "base_url": f"https://me:{SECRET}@h/"}
    assert str(decode(v1_unstable.ProviderCurrentConfig, wrong)) == (
        "api_type='openai' base_url='https://h' base_url='https://…@h/'"
    )

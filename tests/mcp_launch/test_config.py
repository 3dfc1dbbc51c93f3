"""The forms in which a file may ask for servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_launch import UnusableInput
from mcp_launch.command.config import Config, read_config

SERVER: dict[str, Any] = {"name": "n", "command": "/c", "args": [], "env": []}


@pytest.mark.parametrize(
    ("value", "config"),
    [
        ([SERVER], Config(servers=[SERVER])),
        ({"cwd": "/p", "mcpServers": [SERVER]}, Config(servers=[SERVER], cwd="/p")),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/p", "mcpServers": [SERVER]}},
            Config(servers=[SERVER], cwd="/p"),
        ),
        ({"method": "session/load", "params": {"cwd": "/p", "mcpServers": None}}, Config(servers=[], cwd="/p")),
    ],
)
def test_r69_acp_forms_are_passed_on_as_they_are(value: object, config: Config) -> None:
    assert read_config(json.dumps(value), source="f") == config


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
        (5, {"type": 5}),
    ],
)
def test_r69_a_desktop_map_becomes_acp(entry: object, acp: dict[str, Any]) -> None:
    config = read_config(json.dumps({"mcpServers": {"n": entry}}), source="f")

    assert config == Config(servers=[{"name": "n", **acp}])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{\n  "mcpServers": [,]\n}', "f:2:18: not JSON"),
        ("", "f:1:1: not JSON"),
        ("{}\n{}", "f:2:1: not JSON: Extra data; give one request, not a whole conversation"),
        ("3", "f: holds no mcpServers"),
        ("{}", "f: holds no mcpServers"),
        ('{"method": "initialize", "params": {}}', 'f: a "initialize" request asks for no servers'),
        ('{"method": "session/new"}', "f: holds no mcpServers"),
        ('{"mcpServers": "x"}', "f: mcpServers must be"),
        ('{"mcpServers": [], "cwd": 1}', "f: cwd must be"),
        ('{"mcpServers": {"a": {}, "a": {}}}', "f: the name 'a' occurs twice"),
        ("[" * 100_000, "f: nested too deep"),
        (f"[{'1' * 5000}]", "f: holds a number that is too long"),
    ],
)
def test_what_holds_no_servers_is_said_clearly(text: str, says: str) -> None:
    with pytest.raises(UnusableInput) as raised:
        read_config(text, source="f")

    assert str(raised.value).startswith(says)

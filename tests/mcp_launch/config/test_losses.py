"""Everything that a client's format cannot express is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_launch import UnusableInput
from mcp_launch.config import read_config, write_config
from tests.mcp_launch.config.test_hostile import FILES, SAMPLES
from tests.mcp_launch.config.test_round_trip import normal


def lost(entry: dict[str, Any], origin: str, to: str, **more: Any) -> tuple[Any, list[tuple[str, str]]]:
    holder = "servers" if origin == "vscode" else "mcpServers"
    config = read_config(json.dumps({holder: {"n": entry}, **more}), source="f", format=origin, env={})
    text, found = write_config(config, to)
    value = json.loads(text)
    return value, [(each.code, each.message) for each in found]


@pytest.mark.parametrize(
    ("entry", "origin", "to", "code", "lacks"),
    [
        ({"url": "http://h"}, "cursor", "claude-desktop", "left_out", "servers of type http"),
        ({"type": "sse", "url": "http://h"}, "claude-code", "zed", "left_out", "servers of type sse"),
        ({"command": "c", "disabled": True}, "windsurf", "cursor", "left_out", "disabled servers"),
        ({"command": "c", "disabled": True}, "windsurf", "acp", "left_out", "disabled servers"),
        ({"command": "c", "cwd": "/d"}, "vscode", "cursor", "not_said", "a directory per server"),
        ({"command": "c", "cwd": "/d"}, "vscode", "acp", "not_said", "'cwd' in a server"),
        ({"command": "c", "timeout": 5}, "gemini", "vscode", "not_said", "a timeout per server"),
        ({"command": "c", "trust": True}, "gemini", "vscode", "not_said", "'trust', or uses it"),
        ({"command": "c", "typo": True}, "gemini", "acp", "not_said", "'typo' in a server"),
        ({"httpUrl": "http://h", "cwd": "/d"}, "gemini", "vscode", "not_said", "a directory per server"),
        ({"command": "c", "oauth": {"a": 1}}, "gemini", "claude-code", "not_said", "'oauth', or uses"),
        ({"command": "c", "description": "d"}, "gemini", "cursor", "not_said", "'description', or uses"),
        ({"type": "ws", "url": "ws://h"}, "claude-code", "vscode", "left_out", "servers of type ws"),
        ({"type": 5}, "claude-code", "vscode", "left_out", "servers with a type that is not a string"),
    ],
)
def test_lost_fields_are_reported(entry: dict[str, Any], origin: str, to: str, code: str, lacks: str) -> None:
    _, ((found, message),) = lost(entry, origin, to)

    assert found == code
    assert f" does not support {lacks}" in message


def test_a_transport_that_the_url_contradicts_is_reported() -> None:
    _, ((code, message),) = lost({"type": "sse", "url": "http://h"}, "claude-code", "windsurf")

    assert (code, message[:39]) == ("not_said", "Windsurf derives the transport from the")
    assert lost({"type": "http", "url": "http://h/sse"}, "claude-code", "gemini")[1] == []


def test_an_env_that_is_not_a_list_is_preserved() -> None:
    server: dict[str, Any] = {"name": "n", "command": "c", "args": [], "env": {"A": "b"}}
    written, _ = write_config(read_config(json.dumps([server]), source="f", env={}), "claude-code")

    assert json.loads(written)["mcpServers"]["n"]["env"] == {"A": "b"}


def test_an_empty_list_of_arguments_is_kept_but_not_one_of_variables() -> None:
    value, found = lost({"command": "c", "args": [], "env": {}}, "claude-code", "cursor")

    assert (value, found) == ({"mcpServers": {"n": {"type": "stdio", "command": "c", "args": []}}}, [])


def test_goose_passes_on_no_variable_under_another_name() -> None:
    text = json.dumps({"mcpServers": {"n": {"command": "c", "env": {"A": "${B}"}}}})
    written, found = write_config(read_config(text, source="f", format="claude-code", env={}), "goose")

    assert "env_keys" not in written
    assert "A: ${B}" in written
    assert [each.code for each in found] == ["variable_not_said"]


@pytest.mark.parametrize(
    ("to", "milliseconds", "line"),
    [
        ("codex", 30_000, "tool_timeout_sec = 30\n"),
        ("codex", 1500, "tool_timeout_sec = 1.5\n"),
        ("zed", 1500, '"timeout": 2\n'),
        ("goose", 1500, "timeout: 2\n"),
    ],
)
def test_a_timeout_is_a_whole_number_where_it_can_or_must_be(to: str, milliseconds: int, line: str) -> None:
    text = json.dumps({"mcpServers": {"n": {"command": "c", "timeout": milliseconds}}})
    written, _ = write_config(read_config(text, source="f", format="gemini", env={}), to)

    assert line in written


def test_inputs_are_kept_only_if_the_client_supports_them() -> None:
    inputs = [{"id": "k", "type": "promptString"}]

    assert lost({"command": "c"}, "vscode", "cursor", inputs=inputs)[1] == [
        ("not_said", "Cursor does not support inputs; it was omitted")
    ]
    value, found = lost({"command": "c", "dev": {"watch": "x"}}, "vscode", "vscode", inputs=inputs)
    assert found == []
    assert value == {"inputs": inputs, "servers": {"n": {"type": "stdio", "command": "c", "dev": {"watch": "x"}}}}


def test_fields_that_both_clients_support_are_kept() -> None:
    value, found = lost({"command": "c", "envFile": ".env"}, "vscode", "cursor")

    assert (value["mcpServers"]["n"]["envFile"], found) == (".env", [])


def test_names_that_only_acp_can_have_twice_are_refused() -> None:
    text = '[{"name": "a", "command": "c"},\n {"name": "a", "command": "d"}]'
    config = read_config(text, source="f")

    with pytest.raises(UnusableInput, match=r"^f:2:11: the name 'a' occurs twice, but Cursor requires unique names"):
        write_config(config, "cursor")
    assert json.loads(write_config(config, "acp")[0]) == json.loads(text)


def test_a_repeated_variable_is_reported() -> None:
    env = [{"name": "K", "value": "1"}, {"name": "K", "value": "2"}]
    config = read_config(json.dumps([{"name": "a", "command": "c", "args": [], "env": env}]), source="f")

    text, found = write_config(config, "cursor")
    assert json.loads(text)["mcpServers"]["a"]["env"] == {"K": "2"}
    assert [each.message for each in found] == ["Cursor allows each name once in env; the last value of K was used"]


def test_acp_is_written_with_the_fields_that_version_1_requires() -> None:
    assert lost({"url": "http://h"}, "cursor", "acp")[0] == [
        {"type": "http", "name": "n", "url": "http://h", "headers": []}
    ]
    assert lost({"command": "c", "args": None, "env": None}, "cursor", "acp")[0] == [
        {"name": "n", "command": "c", "args": [], "env": []}
    ]
    assert lost({"args": ["x"]}, "cursor", "acp")[0] == [{"name": "n", "args": ["x"], "env": []}]
    assert lost({"type": "ws", "url": "ws://h", "args": ["x"]}, "claude-code", "acp")[0] == [
        {"type": "ws", "name": "n", "url": "ws://h", "headers": [], "args": ["x"]}
    ]
    config = read_config('{"cwd": "/p", "mcpServers": []}', source="f")
    assert json.loads(write_config(config, "acp")[0]) == {"cwd": "/p", "mcpServers": []}


@pytest.mark.parametrize(("sample", "name"), FILES.items())
def test_a_file_that_is_written_for_its_own_client_loses_nothing(sample: str, name: str) -> None:
    begun = read_config((SAMPLES / sample).read_text("utf-8"), source="f", format=name, env={})
    text, lost = write_config(begun, name)
    again = read_config(text, source="f", format=name, env={})

    assert lost == []
    assert (again.rest, again.cwd) == (begun.rest, begun.cwd)
    for old, new in zip(begun.entries, again.entries, strict=True):
        assert (new.name, new.disabled, new.timeout, new.extra) == (old.name, old.disabled, old.timeout, old.extra)
        assert normal(new.written) == normal(old.written)
        assert new.written_cwd == old.written_cwd


def test_content_that_only_acp_supports_is_reported() -> None:
    servers = [5, {"name": "n", "command": "c", "args": [5], "env": [], "later": 1, "_meta": {"k": "v"}}]
    config = read_config(json.dumps({"cwd": "/p", "mcpServers": servers}), source="f")

    text, found = write_config(config, "cursor")
    assert json.loads(text) == {"mcpServers": {"n": {"type": "stdio", "command": "c", "args": [5]}}}
    assert [(each.server, each.code, each.message) for each in found] == [
        (None, "not_said", "Cursor does not support a directory for all servers; cwd was omitted"),
        ("mcpServers[0]", "left_out", "is not a server and was omitted"),
        ("n", "not_said", "Cursor does not support later in a server of type stdio; it was omitted"),
    ]


def test_values_that_goose_would_replace_are_reported() -> None:
    entry = {"type": "http", "url": "https://h", "headers": {"A": "${K}", "B": "$K", "C": "$L"}}
    config = read_config(json.dumps({"mcpServers": {"n": entry}}), source="f", format="claude-code", env={})

    assert [(each.code, each.message) for each in write_config(config, "goose")[1]] == [
        ("would_be_replaced", "Goose would replace a part of headers that is meant literally"),
    ]


def test_zed_gets_the_args_that_it_requires() -> None:
    assert lost({"command": "c"}, "cursor", "zed") == ({"context_servers": {"n": {"command": "c", "args": []}}}, [])
    assert lost({"env": {"A": "b"}}, "cursor", "zed")[0] == {"context_servers": {"n": {"env": {"A": "b"}, "args": []}}}


def test_written_files_are_readable() -> None:
    config = read_config('{"servers": {"ü": {"command": "c"}}}', source="f")

    text, _ = write_config(config, "claude-desktop")
    assert text == '{\n  "mcpServers": {\n    "ü": {\n      "command": "c"\n    }\n  }\n}\n'

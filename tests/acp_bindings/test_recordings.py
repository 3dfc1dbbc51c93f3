"""Recordings: what is written, what is redacted, and what is read again."""

import io
import json
from typing import Any

import pytest

from acp_bindings.check import Check
from acp_bindings.recordings import Recorder, read_recording

SERVER = {
    "name": "github",
    "command": "/usr/bin/npx",
    "args": ["--token=tok-98765-abcd", "server"],
    "env": [{"name": "GITHUB_TOKEN", "value": "very secret value"}, {"name": "MODE", "value": "production"}],
}
REMOTE = {
    "type": "http",
    "name": "remote",
    "url": "https://user:hunter2pass@example.com/mcp?api_key=9f8e7d6c5b",
    "headers": [{"name": "X-Workspace", "value": "a1b2c3d4e5f6a7b8c9"}],
}


def new_session(*servers: dict[str, Any]) -> bytes:
    params = {"cwd": "/work", "mcpServers": servers}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params}).encode()


def said(text: str) -> bytes:
    content = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": "s", "update": content}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()


def recorded(*lines: tuple[str, bytes], secrets: list[str] | None = []) -> list[dict[str, Any]]:  # noqa: B006
    file = io.BytesIO()
    recorder = Recorder(file, secrets=secrets)
    for sender, line in lines:
        recorder.message("client" if sender == "client" else "agent", line, time=1.5)
    assert recorder.lines == file.getvalue().count(b"\n")
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_a_message_is_recorded_with_its_time_and_sender() -> None:
    file = io.BytesIO()
    Recorder(file).message("client", b'{"jsonrpc":"2.0", "id":1.0,"method":"x"}\r\n', time=1764243949.123456)
    stamp = b'{"time":"2025-11-27T11:45:49.123456Z","from":"client","message":'
    assert file.getvalue() == stamp + b'{"jsonrpc":"2.0", "id":1.0,"method":"x"}}\n'


def test_a_line_that_is_not_json_is_recorded_as_a_string() -> None:
    lines = recorded(("agent", b"Welcome \xff!\n"), ("agent", b"\n"), ("agent", b'{"a":"\\ud800"}\n'))
    assert [line["message"] for line in lines] == ["Welcome �!", '{"a":"\\ud800"}']


@pytest.mark.parametrize("redacted", [True, False])
def test_a_message_with_nan_is_recorded_as_a_string_without_secrets(redacted: bool) -> None:
    file = io.BytesIO()
    recorder = Recorder(file, secrets=() if redacted else None)
    line = new_session({**SERVER, "_meta": {"x": float("nan")}})
    recorder.message("client", line)
    message = json.loads(file.getvalue())["message"]
    assert isinstance(message, str)
    assert ("very secret value" in message) is not redacted
    assert "NaN" in message
    [found] = [each for each in Check(file.getvalue().splitlines(keepends=True)) if each.rule == "schema.json"]
    assert found.message.endswith("; JSON has no NaN or infinity")


def test_a_recorded_message_that_is_not_utf8_is_an_error() -> None:
    file = io.BytesIO()
    recorder = Recorder(file)
    recorder.message("agent", said("cafe"))
    recorder.message("agent", said("cafe").replace(b"cafe", "café".encode("cp1252")))
    [found] = [each for each in Check(file.getvalue().splitlines(keepends=True)) if each.rule == "schema.json"]
    assert (found.severity, found.line) == ("error", 2)
    assert found.message.endswith("; it is not UTF-8")


def test_values_of_env_and_headers_are_masked_where_they_are_sent() -> None:
    [line] = recorded(("client", new_session(SERVER, REMOTE)))
    github, remote = line["message"]["params"]["mcpServers"]
    assert [each["value"] for each in github["env"]] == ["[redacted]", "[redacted]"]
    assert github["args"] == ["--token=[redacted]", "server"]
    assert remote["headers"] == [{"name": "X-Workspace", "value": "[redacted]"}]
    assert remote["url"] == "https://[redacted]@example.com/mcp?[redacted]"


@pytest.mark.parametrize(
    ("method", "params", "masked"),
    [
        (
            "terminal/create",
            {"command": "make", "env": [{"name": "API_KEY", "value": "swordfish-42"}]},
            {"command": "make", "env": [{"name": "API_KEY", "value": "[redacted]"}]},
        ),
        ("terminal/create", {"args": ["--token", "swordfish-42"]}, {"args": ["--token", "[redacted]"]}),
        ("providers/set", {"headers": {"X-Api-Key": "swordfish-42"}}, {"headers": {"X-Api-Key": "[redacted]"}}),
        ("authenticate", {"_meta": {"api-key": "swordfish-42"}}, {"_meta": {"api-key": "[redacted]"}}),
        ("auth/login", {"_meta": {"vendor": {"key": "swordfish-42"}}}, {"_meta": {"vendor": "[redacted]"}}),
        ("session/prompt", {"_meta": {"traceparent": "00-1"}}, {"_meta": {"traceparent": "00-1"}}),
    ],
)
def test_secrets_of_other_requests_are_masked(method: str, params: dict[str, Any], masked: dict[str, Any]) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"sessionId": "s", **params}}
    [line] = recorded(("agent", json.dumps(request).encode()))
    assert line["message"] == {**request, "params": {"sessionId": "s", **masked}}


@pytest.mark.parametrize("secret", ["swordfish-42", "tok-98765-abcd"])
def test_secrets_of_a_terminal_are_masked_later(secret: str) -> None:
    params = {"args": ["--token=tok-98765-abcd"], "env": [{"name": "API_KEY", "value": "swordfish-42"}]}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "terminal/create", "params": params})
    assert secret not in json.dumps(recorded(("agent", request.encode()), ("agent", said(f"It is {secret}."))))


@pytest.mark.parametrize(
    "repeated",
    [
        "very secret value",
        "tok-98765-abcd",
        "a1b2c3d4e5f6a7b8c9",
        "hunter2pass",
        "9f8e7d6c5b",
        "dmVyeSBzZWNyZXQgdmFsdWU=",
    ],
)
def test_later_occurrences_of_a_secret_are_redacted(repeated: str) -> None:
    text = said(f"it is {repeated}.").replace(b"secret", b"s\\u0065cret")
    lines = recorded(("client", new_session(SERVER, REMOTE)), ("agent", text), ("agent", b"log: " + repeated.encode()))
    assert lines[1]["message"]["params"]["update"]["content"]["text"] == "it is [redacted]."
    assert lines[2]["message"] == "log: [redacted]"


def test_a_url_in_env_and_its_password_are_redacted_later() -> None:
    server = {
        "name": "db",
        "command": "db",
        "args": [],
        "env": [{"name": "DB", "value": "postgres://u:hunter2pass@db"}],
    }
    lines = recorded(("client", new_session(server)), ("agent", b"postgresql://u:hunter2pass@db: hunter2pass is wrong"))
    assert lines[1]["message"] == "postgresql://[redacted]@db: [redacted] is wrong"


def test_later_occurrences_of_ordinary_values_are_kept() -> None:
    lines = recorded(("client", new_session(SERVER)), ("agent", said("the production build")))
    assert lines[1]["message"]["params"]["update"]["content"]["text"] == "the production build"


def test_an_invalid_request_for_a_session_is_redacted_too() -> None:
    [line] = recorded(("client", new_session(SERVER)[:-1]))
    assert "very secret" not in line["message"]


def test_nothing_is_redacted_on_request() -> None:
    [line] = recorded(("client", new_session(SERVER)), secrets=None)
    assert line["message"]["params"]["mcpServers"] == [SERVER]


def test_a_redacted_recording_has_no_recorded_secrets() -> None:
    file = io.BytesIO()
    Recorder(file).message("client", new_session(SERVER, REMOTE))
    assert "secret.recorded" not in {found.rule for found in Check(file.getvalue().splitlines(keepends=True))}


def test_events_are_redacted_and_read_again() -> None:
    file = io.BytesIO()
    recorder = Recorder(file, secrets=["swordfish"])
    recorder.message("client", b'{"jsonrpc":"2.0","method":"x"}', time=1.25)
    recorder.stderr(b"login with swordfish\n", time=2.0)
    recorder.event("receipt", {"server": "github", "event": "started"}, time=3.0)
    recorder.event("end", {"exitStatus": 0}, time=4.0)
    lines = [*read_recording([*file.getvalue().splitlines(keepends=True), b'{"time":"2025'])]
    assert [(each.number, each.time, each.event, each.about) for each in lines] == [
        (1, 1.25, None, None),
        (2, 2.0, "stderr", "login with [redacted]"),
        (3, 3.0, "receipt", {"server": "github", "event": "started"}),
        (4, 4.0, "end", {"exitStatus": 0}),
    ]
    assert lines[0].line.sender == "client"
    assert lines[0].line.value == {"jsonrpc": "2.0", "method": "x"}


def test_recordings_of_other_programs_are_read() -> None:
    [line] = read_recording([b'{"direction":"client->agent","payload":{"jsonrpc":"2.0","method":"x"}}\n'])
    assert (line.time, line.event, line.line.sender, line.line.at) == (None, None, "client", ("payload",))

"""Recordings as the rows of the page."""

import json
from typing import Any

import pytest

from acp_bindings import v1
from acp_bindings.check import Unusable
from acp_bindings.view._reading import rows_of
from tests.acp_bindings.view.recordings import TURN, as_line, at, event, line, opening, prompt

NOON = 1795780800000  # 2026-11-27T12:00:00Z in milliseconds


def rows(lines: list[bytes], *, show_secrets: bool = False) -> list[Any]:
    return [json.loads(each) for each in rows_of(lines, show_secrets=show_secrets)]


def messages(lines: list[bytes]) -> list[Any]:
    return [each for each in rows(lines) if "finding" not in each]


def test_a_row_has_line_time_sender_and_message() -> None:
    assert rows(TURN)[4] == {
        "line": 5,
        "time": NOON + 2000,
        "from": "client",
        "message": {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "session/prompt",
            "params": {"sessionId": "s1", "prompt": [{"type": "text", "text": "Who are you?"}]},
        },
    }


def test_a_message_is_shown_without_escapes_that_it_does_not_need() -> None:
    text = '{"jsonrpc":"2.0","method":"_x","params":{"text":"\\u00dcber","cost":1.0,"big":12345678901234567890123}}'
    for each in (text, f'{{"from":"client","message":{text}}}', json.dumps({"from": "client", "message": text})):
        row, *_ = rows_of([each.encode()])
        assert json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) in row


def test_events_of_a_recording_are_rows() -> None:
    lines = [
        event(1, **{"from": "agent"}, stderr="ready"),
        event(2, receipt={"server": "files", "event": "started"}),
        event(3, finding={"line": 1, "rule": "schema.json", "severity": "error", "message": "old", "path": []}),
        event(3, closed={"from": "client"}),
        event(4, end={"exitStatus": 1}),
    ]
    assert rows([*TURN, *lines])[len(TURN) :] == [
        {"line": 10, "time": NOON + 1, "from": "agent", "stderr": "ready"},
        {"line": 11, "time": NOON + 2, "receipt": {"server": "files", "event": "started"}},
        {"line": 14, "time": NOON + 4, "end": {"exitStatus": 1}},
    ]


def test_a_recording_may_have_only_the_end_of_an_agent_that_did_not_start() -> None:
    assert rows([event(4, end={"exitStatus": 127})]) == [{"line": 1, "time": NOON + 4, "end": {"exitStatus": 127}}]


def test_a_turn_that_the_client_left_may_end_as_cancelled() -> None:
    cancelled = line(6000, "agent", id=8, result={"stopReason": "cancelled"})
    closed = event(5500, closed={"from": "client"})
    assert messages([*TURN, prompt(5000, 8, "hello"), closed, cancelled]) == rows(
        [*TURN, prompt(5000, 8, "hello"), closed, cancelled]
    )
    assert "finding" in rows([*TURN, prompt(5000, 8, "hello"), cancelled])[-1]


def test_the_sender_of_a_bare_message_is_inferred() -> None:
    bare = [b"%s\n" % json.dumps(json.loads(each)["message"]).encode() for each in TURN]
    senders = ["client", "agent", "client", "agent", "client", "agent", "agent", "agent", "agent"]
    assert [each["from"] for each in messages(bare)] == senders
    assert not any("time" in each for each in messages(bare))


def test_a_list_of_messages_is_a_conversation() -> None:
    document = json.dumps([json.loads(each) for each in TURN], indent=2).encode().splitlines(keepends=True)
    assert messages(document) == messages(TURN)


def test_a_single_message_may_have_several_lines() -> None:
    text = json.dumps(json.loads(TURN[0])["message"], indent=2).replace("\n", "\r\n").encode()
    (row,) = rows_of(text.splitlines(keepends=True))
    assert json.loads(row) == {"line": 1, "from": "client", "message": json.loads(text)}
    assert "\n" not in row


def test_a_recording_that_begins_later_is_read_by_the_named_protocol() -> None:
    rules = [each["finding"]["rule"] for each in rows(TURN[4:]) if "finding" in each]
    assert rules == ["lifecycle.not-initialized"]
    assert not any("finding" in row for row in rows_of(TURN[4:], protocol=v1))


def test_a_log_has_the_times_of_its_lines() -> None:
    log = [
        b"2026-11-27 12:00:01,500 DEBUG starting\n",
        b'2026-11-27 12:00:02,250 DEBUG sent {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}\n',
        b"2026-11-27 12:00:03,000 DEBUG done\n",
    ]
    assert [(each["line"], each["time"]) for each in messages(log)] == [(2, NOON + 2250)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time", "2026-11-27T12:00:00Z"),
        ("timestamp", "2026-11-27T13:00:00+01:00"),
        ("ts", NOON / 1000),
        ("ts", NOON),
    ],
)
def test_times_have_several_forms(name: str, value: Any) -> None:
    lines = [as_line(**{name: value}, **{"from": "client"}, message=json.loads(each)["message"]) for each in TURN]
    assert {each["time"] for each in messages(lines)} == {NOON}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1764243949123456789", "-1e300"])
def test_a_time_that_browsers_cannot_show_is_left_out(value: str) -> None:
    message = json.dumps(json.loads(TURN[0])["message"])
    assert "time" not in messages([f'{{"time": {value}, "from": "client", "message": {message}}}\n'.encode()])[0]


def test_a_line_that_is_not_json_is_text_with_its_finding() -> None:
    row, finding = rows([*TURN, b'{"time": "%b", "from": "agent", "message": "Loading ..."}\n' % at(6000).encode()])[9:]
    assert row == {"line": 10, "time": NOON + 6000, "from": "agent", "text": "Loading ..."}
    assert (finding["finding"]["line"], finding["finding"]["rule"]) == (10, "schema.json")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_browsers_cannot_read_makes_text(number: str) -> None:
    row = messages([*TURN, b'{"jsonrpc": "2.0", "method": "_x", "params": [%s]}\n' % number.encode()])[9]
    assert row["text"] == f'{{"jsonrpc":"2.0","method":"_x","params":[{number}]}}'


def test_the_path_of_a_finding_begins_in_the_message() -> None:
    wrong = line(2000, "agent", id=9, method="fs/read_text_file", params={"sessionId": "s1", "path": "notes.txt"})
    paths = {each["finding"]["rule"]: each["finding"]["path"] for each in rows([*TURN, wrong]) if "finding" in each}
    assert paths["path.file"] == ["params", "path"]


def test_rows_contain_nothing_that_html_interprets() -> None:
    hostile = "</script><script>alert(1)</script><!-- & \r\n\u2028"
    found = [*rows_of([*TURN, prompt(6000, 3, hostile), event(7000, receipt={"server": hostile})])]
    assert not any(each in row for row in found for each in "<>&\r\n")
    texts = [json.loads(row) for row in found]
    assert texts[9]["message"]["params"]["prompt"][0]["text"] == hostile
    assert texts[-1]["receipt"]["server"] == hostile


SERVERS: list[Any] = [
    {
        "name": "github",
        "type": "http",
        "url": "https://ada:p4ssw0rd@example.com/mcp?api_key=query-secret",
        "headers": [{"name": "Authorization", "value": "Bearer token-1815-1852"}],
    },
    {
        "name": "files",
        "command": "/bin/files",
        "args": ["--token", "argument-secret"],
        "env": [{"name": "GREETING", "value": "Hi Ada"}],
    },
]
SECRETS = ("p4ssw0rd", "query-secret", "token-1815-1852", "argument-secret")


def test_secrets_are_redacted_where_they_are_sent_and_later() -> None:
    later = [
        prompt(2000, 2, f"Use {' or '.join(SECRETS)}"),
        event(2001, **{"from": "agent"}, stderr=f"refused: {SECRETS[2]}"),
        event(2002, receipt={"server": "github", "event": "failed", "message": f"401 for {SECRETS[2]}"}),
        f"no JSON but {SECRETS[3]}\n".encode(),
        line(2003, "client", id=3, method="_x", params=json.loads('{"a": "p4ssw\\u0030rd"}')),
        b'{"jsonrpc": "2.0", "method": "_x", "params": {"a": "p4ssw\\u0030rd"}}\n',
        # A finding quotes it.
        line(2004, "client", id=4, method=SECRETS[2], params={}),
    ]
    found = "\n".join(rows_of([*opening(servers=SERVERS), *later]))
    assert [each for each in (*SECRETS, "p4ssw\\u0030rd", "Hi Ada") if each in found] == []
    assert found.count("[redacted]") > len(SECRETS)


def test_secrets_are_shown_on_request() -> None:
    found = "\n".join(rows_of(opening(servers=SERVERS), show_secrets=True))
    assert [each for each in (*SECRETS, "Hi Ada") if each not in found] == []


@pytest.mark.parametrize("payload", [b'{"cwd": "/home", "mcpServers": []}', b"[1, 2]", b"{}", b"", b"# Title\n"])
def test_an_input_without_messages_is_unusable(payload: bytes) -> None:
    with pytest.raises(Unusable):
        rows([payload])

"""Unusual input files: long, empty, damaged, or from another operating system."""

import codecs
import json
import tracemalloc
from collections.abc import Iterator

import pytest

from acp_bindings.check import Check, Unusable
from acp_bindings.check._inputs import EXPECTED
from tests.acp_bindings.check.conversations import (
    AGENT,
    CLEAN,
    as_lines,
    call,
    check,
    new,
    opening,
    rules,
    update,
    where,
)

LINES = as_lines(CLEAN)


def kind(raw: bytes) -> str:
    inspected = Check(raw.splitlines(keepends=True))
    assert list(inspected) == []
    return inspected.kind


def test_any_line_separator_is_accepted() -> None:
    text = b"".join(LINES)
    for each in (text, text.replace(b"\n", b"\r\n"), text.replace(b"\n", b"\n\n \n"), text.rstrip(b"\n"), b"\n" + text):
        assert kind(each) == "conversation"


def test_a_byte_order_mark_in_front_is_left_out() -> None:
    assert kind(codecs.BOM_UTF8 + b"".join(LINES)) == "conversation"
    assert kind(codecs.BOM_UTF8 + b'{"cwd": "/x", "mcpServers": []}') == "payloads"


@pytest.mark.parametrize("raw", [b"", b"\n", b" \r\n\t\n", codecs.BOM_UTF8])
def test_an_empty_file_cannot_be_used(raw: bytes) -> None:
    with pytest.raises(Unusable, match="empty"):
        Check(raw.splitlines(keepends=True))


def test_utf_16_cannot_be_used() -> None:
    with pytest.raises(Unusable, match="UTF-8"):
        Check("{}\n{}\n".encode("utf-16").splitlines(keepends=True))


@pytest.mark.parametrize("raw", [b"hello", b"{", b'{"a": 1,\n"b"\n', b"\xff", b"[1, 2\n3"])
def test_input_that_is_not_json_is_unusable(raw: bytes) -> None:
    with pytest.raises(Unusable, match="not JSON"):
        Check(raw.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"{'a': 1}", "key must be a string at line 1 column 2; it is a Python dict; use json.dumps"),
        (b'{\n"a": 1,\n}\n', "trailing comma at line 3 column 1"),
        (b'{"a":\n [1, // one\n 2]}', "expected value at line 2 column 6; JSON has no comments"),
        (
            b'{\n"jsonrpc": "2.0"\n}\n{\n"jsonrpc": "2.0"\n}\n',
            f"trailing characters at line 4 column 1; there is more than one value in it. {EXPECTED}",
        ),
    ],
)
def test_the_syntax_error_of_a_document_is_reported(raw: bytes, told: str) -> None:
    with pytest.raises(Unusable) as raised:
        Check(raw.splitlines(keepends=True))
    assert str(raised.value) == f"it is not JSON: {told}"


def test_invalid_utf_8_is_reported_and_the_next_line_read() -> None:
    talk = [*opening(), b'{"jsonrpc": "2.0", "method": "session/\xff"}', b"\xff\xfe", *new(cwd=".")]
    assert [(each.rule, where(each)) for each in check(*talk)] == [
        ("schema.json", "3"),
        ("schema.json", "4"),
        ("path.cwd", "5 params.cwd"),
    ]


@pytest.mark.parametrize(
    "line", [b"hello", b"{", b"[]", b"5", b"null", b'"text"', b"{}", b"[" * 100_000, b'{"a": NaN}']
)
def test_a_line_that_is_not_a_message_is_reported(line: bytes) -> None:
    (found,) = check(*opening(), line)
    assert found.rule in ("schema.json", "schema.message")
    assert found.line == 3


def test_a_conversation_may_begin_with_a_truncated_line() -> None:
    found = list(Check([b'{"jsonrpc": "2.0", "id\n', *as_lines(new())], protocol=None))
    assert [each.rule for each in found] == ["schema.json", "lifecycle.not-initialized"]


def test_a_conversation_may_have_a_syntax_error_in_every_line() -> None:
    lines = [each.rstrip().removesuffix(b"}") + b",}\n" for each in LINES[:2]]
    check = Check(lines)

    assert [each.message.split(":")[1].split(" at ")[0].strip() for each in check] == ["trailing comma"] * 2
    assert check.kind == "conversation"


@pytest.mark.parametrize(
    ("text", "likeness"),
    [
        (b"[2026-01-01T12:00:00] started\nand more\n", "a log, in which no line ends in a message"),
        (b"INFO: it is\nWARN: it is not\n", "a log, in which no line ends in a message"),
        (
            b'{"level": "info"}\n{"level": "debug"}\n',
            "payloads or other JSON on each line; for payloads, pass --type",
        ),
    ],
)
def test_the_likely_format_of_other_input_is_named(text: bytes, likeness: str) -> None:
    with pytest.raises(Unusable) as raised:
        Check(text.splitlines(keepends=True))
    assert f"is a message; it looks like {likeness}" in str(raised.value)
    assert "A recording has one JSON-RPC message on each line" in str(raised.value)
    assert raised.value.lines


def test_input_of_an_unknown_format_is_not_a_recording() -> None:
    with pytest.raises(
        Unusable, match=r"^it is not a recording: none of its 2 lines is a message\. A recording has"
    ) as told:
        Check([b"hello\n", b"\n", b"world\n"])
    assert told.value.lines == (1, 3)
    with pytest.raises(Unusable, match=r"none of its first 20 lines is a message") as told:
        Check([b"hello\n"] * 30)
    assert told.value.lines == tuple(range(1, 21))
    with pytest.raises(Unusable, match=r"none of its first 20 lines is JSON"):
        Check([b"hello\n"] * 30, type="v1.NewSessionRequest")


def test_a_few_lines_before_the_first_message_are_tolerated() -> None:
    talk = [*([b"hello"] * 19), *opening()]
    assert rules(*talk) == ["schema.json"] * 19
    assert rules(*([b"hello"] * 5), b'{"jsonrpc": "2.0", "id', *opening()) == ["schema.json"] * 6


def test_only_the_first_of_many_invalid_lines_are_reported() -> None:
    found = check(*opening(), *([b"hello"] * 50), *new(cwd="."))
    assert [each.line for each in found if each.rule == "schema.json"] == [*range(3, 24)]
    assert found[-1].message == "this line and 29 more are not JSON either"
    assert [where(each) for each in found if each.rule == "path.cwd"] == ["53 params.cwd"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"jsonrpc": "2.0", "meth', "it ends in the middle of a message; was it cut off?"),
        (b"hello", "it is not JSON: expected value at character 1; a message is one line of JSON in UTF-8"),
        (
            b"{'jsonrpc': '2.0'}",
            "it is not JSON: key must be a string at character 2; it is a Python dict; use json.dumps",
        ),
    ],
)
def test_a_line_that_is_not_json_is_reported_with_the_reason(line: bytes, told: str) -> None:
    (found,) = check(*opening(), line)
    assert found.message == told


@pytest.mark.parametrize("member", [{"result": {"_meta": {"x": float("nan")}}}, {"error": {"code": float("inf")}}])
def test_a_response_with_a_number_that_is_not_json_is_reported(member: dict[str, object]) -> None:
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, **member}).encode()
    assert rules(*opening(), new()[0], answer) == ["schema.json"]


def test_a_log_is_read_without_the_prefix_of_its_messages() -> None:
    starts = b"2026-01-01 12:00:00 INFO started {1}\n" * 30
    logged = [b"2026-01-01 12:00:01 DEBUG rx: " + line for line in as_lines([*opening(), *new(cwd=".")])]
    (found,) = list(Check([*starts.splitlines(keepends=True), *logged, b"12:00:02 jsonrpc {\n"]))
    assert (found.rule, where(found)) == ("path.cwd", "33 params.cwd")


def test_a_prefix_before_one_message_of_a_recording_is_reported() -> None:
    talk = [*opening(), b"DEBUG " + json.dumps(new()[0]).encode()]
    assert rules(*talk) == ["schema.json"]


@pytest.mark.parametrize(("says", "name"), [("direction", "json"), ("dir", "msg"), ("sender", "line"), ("at", "frame")])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_wrapper_may_have_any_names(says: str, name: str, as_text: bool) -> None:
    talk = [*opening(), *new(cwd=".")]
    wrapped = [
        {says: "fromClient" if "method" in each else "fromAgent", name: json.dumps(each) if as_text else each}
        for each in talk
    ]
    (found,) = check(*wrapped)
    assert (found.rule, found.sender, where(found)) == ("path.cwd", "client", f"3 {name}.params.cwd")


@pytest.mark.parametrize("says", ["direction", "from", "dir", "sender"])
@pytest.mark.parametrize("said", ["agent", "fromAgent", "from_agent", "Agent->client", " agent"])
def test_a_wrapper_may_name_the_sender_in_several_ways(says: str, said: str) -> None:
    found = check(*opening(), {says: said, "message": new()[0]})
    assert [(each.rule, each.sender) for each in found][:1] == [("schema.method", "agent")]


def test_a_wrapper_may_contain_the_message_as_a_string() -> None:
    talk = [{"from": "client" if "method" in each else "agent", "message": json.dumps(each)} for each in opening()]
    assert check(*talk) == []
    (found,) = check(*talk, {"from": "client", "message": "no json"})
    assert (found.rule, where(found)) == ("schema.json", "3 message")
    (found,) = check(*talk, {"from": "client", "message": {"id": 5}})
    assert (found.rule, where(found)) == ("schema.message", "3 message")


def test_a_wrapper_with_an_unknown_direction_is_accepted() -> None:
    talk = [{"direction": "→", "time": 5, "message": each} for each in [*opening(), *new(cwd=".")]]
    (found,) = check(*talk)
    assert (found.rule, where(found)) == ("path.cwd", "3 message.params.cwd")
    found = check(*talk[:2], {"direction": "→", "message": new(cwd=5)[0]})[0]
    assert (found.rule, where(found)) == ("schema.params", "3 message.params.cwd")


def test_a_wrapper_with_the_wrong_sender_causes_findings() -> None:
    talk = [*opening(), *({"from": "agent", "message": each} for each in new()[:1])]
    assert rules(*talk) == ["schema.method", "lifecycle.unanswered"]


def test_memory_does_not_grow_with_the_length_of_a_conversation() -> None:
    chunk = json.dumps(update(AGENT, "x" * 5000)).encode() + b"\n"
    how_many = 3_000  # 15 MB

    def lines() -> Iterator[bytes]:
        yield from as_lines([*opening(), *new()])
        yield json.dumps(call("session/prompt", {"sessionId": "s1", "prompt": []}, id=9)).encode()
        for _ in range(how_many):
            yield chunk
        yield b'{"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "end_turn"}}'

    list(Check(as_lines(CLEAN)))  # what is loaded and built once
    tracemalloc.start()
    found = list(Check(lines()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == []
    assert peak < 5_000_000

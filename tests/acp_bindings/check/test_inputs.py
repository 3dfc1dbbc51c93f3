"""What a file may be like: long, empty, of another system, damaged."""

import codecs
import json
import tracemalloc
from collections.abc import Iterator

import pytest

from acp_bindings.check import Check, Unusable
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


def test_what_separates_lines_does_not_matter() -> None:
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
def test_what_is_no_json_cannot_be_used(raw: bytes) -> None:
    with pytest.raises(Unusable, match="no JSON"):
        Check(raw.splitlines(keepends=True))


def test_a_line_that_is_no_utf_8_is_told_and_the_next_one_read() -> None:
    talk = [*opening(), b'{"jsonrpc": "2.0", "method": "session/\xff"}', b"\xff\xfe", *new(cwd=".")]
    assert [(each.rule, where(each)) for each in check(*talk)] == [
        ("schema.json", "3"),
        ("schema.json", "4"),
        ("path.cwd", "5 params.cwd"),
    ]


@pytest.mark.parametrize(
    "line", [b"hello", b"{", b"[]", b"5", b"null", b'"text"', b"{}", b"[" * 100_000, b'{"a": NaN}']
)
def test_a_line_that_is_no_message_is_told(line: bytes) -> None:
    (found,) = check(*opening(), line)
    assert found.rule in ("schema.json", "schema.message")
    assert found.line == 3


def test_a_conversation_whose_first_line_is_cut_off_is_one_all_the_same() -> None:
    found = list(Check([b'{"jsonrpc": "2.0", "id\n', *as_lines(new())], protocol=None))
    assert [each.rule for each in found] == ["schema.json", "lifecycle.not-initialized"]


def test_a_wrapper_may_hold_a_line_as_text() -> None:
    talk = [{"from": "client" if "method" in each else "agent", "message": json.dumps(each)} for each in opening()]
    assert check(*talk) == []
    (found,) = check(*talk, {"from": "client", "message": "no json"})
    assert (found.rule, where(found)) == ("schema.json", "3 message")


def test_a_wrapper_with_words_of_its_own_is_one_all_the_same() -> None:
    talk = [{"direction": "→", "time": 5, "message": each} for each in [*opening(), *new(cwd=".")]]
    (found,) = check(*talk)
    assert (found.rule, where(found)) == ("path.cwd", "3 message.params.cwd")


def test_a_wrapper_that_tells_the_wrong_side_shows() -> None:
    talk = [*opening(), *({"from": "agent", "message": each} for each in new()[:1])]
    assert rules(*talk) == ["schema.method", "lifecycle.unanswered"]


def test_a_long_conversation_takes_no_more_memory_than_a_short_one() -> None:
    chunk = json.dumps(update(AGENT, "x" * 5000)).encode() + b"\n"
    how_many = 10_000  # 50 MB

    def lines() -> Iterator[bytes]:
        yield from as_lines([*opening(), *new()])
        yield json.dumps(call("session/prompt", {"sessionId": "s1", "prompt": []}, id=9)).encode()
        for _ in range(how_many):
            yield chunk
        yield b'{"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "end_turn"}}'

    list(Check(as_lines(CLEAN)))  # what is loaded and built once
    tracemalloc.start()
    inspected = Check(lines())
    assert list(inspected) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert inspected.messages == how_many + 6
    assert peak < 5_000_000

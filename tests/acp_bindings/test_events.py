"""Event streams are split into events, whatever their line ends are and wherever they are cut."""

from __future__ import annotations

import pytest

from acp_bindings._events import Event, EventBuffer, event_of

EVENTS = {
    b"id: 1\ndata: {}\n\n": Event("message", b"{}", b"id: 1\n"),
    b"data:a\n\n": Event("message", b"a"),
    b"data:a\ndata:b\n\n": Event("message", b"a\nb"),
    b"data: a\rdata: b\n\n": Event("message", b"a\nb"),
    b"id: 1\rretry: 2\ndata: a\n\n": Event("message", b"a", b"id: 1\nretry: 2\n"),
    b"data: a\r\n\r\n": Event("message", b"a"),
    b"data: a\r\r": Event("message", b"a"),
    b"event: new\ndata: a\ndata\n\n": Event("new", b"a\n"),
    b": nothing\n\n": None,
    b"data:\n\n": None,
    # The first event of servers of the TypeScript SDK.
    b"id: 1_x\ndata: \n\n": None,
    b"data:  a\n\n": Event("message", b" a"),
    b"\n\n": None,
}


@pytest.mark.parametrize("block", EVENTS)
def test_a_block_is_read_as_its_event(block: bytes) -> None:
    assert event_of(block) == EVENTS[block]


@pytest.mark.parametrize("blocks", [[*EVENTS], [each for each in EVENTS if b"\r" not in each]])
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_stream_is_split_into_its_blocks(blocks: list[bytes], size: int) -> None:
    stream, buffer = b"".join(blocks), EventBuffer(1000)
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    found = [event_of(block) for chunk in chunks for block in buffer.feed(chunk)]
    assert [each for each in found if each] == [EVENTS[each] for each in blocks if EVENTS[each]]


def test_what_follows_a_long_event_is_read_after_it() -> None:
    long = b"data: " + b"a" * (1 << 20) + b"\n\n"
    assert [*EventBuffer(2 << 20).feed(b"\xef\xbb\xbf" + long + b"data: b\n\ndata: c")] == [long, b"data: b\n\n"]

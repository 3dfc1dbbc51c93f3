"""A stream is split into lines, regardless of how it was split into chunks."""

import pytest

from acp_bindings._processes.process import LineBuffer


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_split_correctly_however_they_arrive(size: int) -> None:
    stream = b"one\n\ntwo and more\r\n" + b"x" * 500 + b"\nthe rest"
    buffer = LineBuffer(limit=500)

    lines = [line for start in range(0, len(stream), size) for line in buffer.feed(stream[start : start + size])]

    assert [*lines, buffer.begun, buffer.rest(), buffer.rest()] == [*stream.split(b"\n"), b"the rest", b""]
    assert not buffer.overflowed


@pytest.mark.parametrize(
    "chunks",
    [
        [b"good\n" + b"x" * 11 + b"\nlost\n"],
        [b"good\n", b"x" * 6, b"x" * 5 + b"\nlost"],
        [b"good\nx", b"x" * 10],
        [b"good\n" + b"x" * 11],
    ],
)
def test_reading_ends_after_a_line_that_is_too_long(chunks: list[bytes]) -> None:
    buffer = LineBuffer(limit=10)

    assert [line for chunk in chunks for line in buffer.feed(chunk)] == [b"good"]
    assert buffer.overflowed
    assert (buffer.feed(b"more\n"), buffer.rest()) == ([], b"")


def test_a_line_may_be_as_long_as_the_limit() -> None:
    assert LineBuffer(limit=10).feed(b"x" * 10 + b"\n") == [b"x" * 10]

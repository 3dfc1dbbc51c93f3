"""Lines that are replaced or inserted by the recording process."""

import pytest

from acp_bindings._tap.replacing import _Input, _Output  # pyright: ignore[reportPrivateUsage]

REQUEST = b'{"id": 1, "params": {"mcpServers": []}}'


def same(chunk: bytes) -> bytes:
    return chunk


def test_only_lines_about_servers_are_replaced() -> None:
    passing = _Input(same, lambda line: line.upper())
    chunks = [b"one\ntw", b"o", b"\n" + REQUEST[:20], REQUEST[20:] + b"\r\n\n", b"half"]
    assert [passing(chunk) for chunk in chunks] == [b"one\n", b"", b"two\n", REQUEST.upper() + b"\r\n\n".upper(), b""]
    assert passing(b"") == b"half"


def test_a_request_without_the_end_of_its_line_is_replaced_at_the_end_of_the_stream() -> None:
    passing = _Input(same, lambda line: line.upper())
    assert (passing(REQUEST), passing(b"")) == (b"", REQUEST.upper())


def test_lines_are_inserted_between_lines(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output = _Output(same)
    output.insert(b"[1]\n")
    output(b"one\ntw")
    output.insert(b"[2]\n")
    output.insert(b"[3]\n")
    output(b"o")
    output(b"!\nthree\n")
    output.insert(b"[4]\n")
    output(b"")
    assert capfdbinary.readouterr().out == b"[1]\none\ntwo!\nthree\n[2]\n[3]\n[4]\n"

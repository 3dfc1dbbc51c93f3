"""Lines that are replaced or inserted by the recording process."""

import io
import os
import threading
from queue import SimpleQueue

import pytest

from acp_bindings._tap.forwarding import Copies, framed, frames_of
from acp_bindings._tap.replacing import _Input, _Output, replacing  # pyright: ignore[reportPrivateUsage]

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


def test_a_late_reply_is_not_for_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: SimpleQueue[bytes] = SimpleQueue()

    def send(data: bytes) -> None:
        for frame in frames_of(io.BytesIO(data)):
            if frame.kind == b"r":
                requests.put(frame.data)

    def reply_late() -> None:
        late = [requests.get(), requests.get()]
        replying.write(b"".join(framed(b"r", line.upper()) for line in late))

    told: list[str] = []
    source, sink = os.pipe()
    with open(source, "rb") as replies, open(sink, "wb", buffering=0) as replying:
        streams = replacing(Copies(send, lost=lambda: None), replies, tell=told.append)
        monkeypatch.setattr("acp_bindings._tap.replacing.REPLY", 0.01)
        assert streams.client(b'"mcpServers": 1\n') == b'"mcpServers": 1\n'
        monkeypatch.setattr("acp_bindings._tap.replacing.REPLY", 10)
        threading.Thread(target=reply_late, daemon=True).start()
        assert streams.client(b'"mcpServers": 2\n') == b'"MCPSERVERS": 2\n'
    assert len(told) == 1


def test_a_dead_recording_process_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings._tap.replacing.REPLY", 600)
    told: list[str] = []
    streams = replacing(Copies(lambda _: None, lost=lambda: None), io.BytesIO(), tell=told.append)
    sending = threading.Thread(target=lambda: [streams.client(REQUEST + b"\n") for _ in range(2)], daemon=True)
    sending.start()
    sending.join(10)
    assert len(told) == 2


def test_lines_are_inserted_between_lines(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output = _Output(same)
    output.insert(b"[1]\n")
    output(b"one\ntw")
    output.insert(b"[2]\n")
    output.insert(b"[3]\n")
    output(b"o")
    output(b"!\nthree\n")
    output.insert(b"[4]\n")
    output(b"half a line")
    output(b"")
    output.insert(b"[5]\n")
    assert capfdbinary.readouterr().out == b"[1]\none\ntwo!\nthree\n[2]\n[3]\n[4]\nhalf a line"

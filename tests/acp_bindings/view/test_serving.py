"""A recording served on loopback while it grows."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from acp_bindings.view import LiveView
from tests.acp_bindings.view.recordings import TURN, chunk


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.ndjson"
    path.write_bytes(b"".join(TURN))
    return path


def get(view: LiveView, path: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(view.url).port or 0, timeout=30)
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


def path_of(view: LiveView) -> str:
    return urlsplit(view.url).path


def lines_in(stream: http.client.HTTPResponse) -> Iterator[str]:
    """Yield the lines of an event stream, which must not be without news for long."""
    for line in stream:
        assert line != b":\n", "there was nothing new"
        yield line.decode().rstrip("\n")


def rows_in(stream: http.client.HTTPResponse, count: int) -> list[Any]:
    """Read *count* rows of an event stream."""
    data = (each.removeprefix("data: ") for each in lines_in(stream) if each.startswith("data: "))
    return [json.loads(each) for each in islice(data, count)]


def test_the_page_is_at_the_url_with_the_token(file: Path) -> None:
    with LiveView(file) as view:
        response = get(view, path_of(view))
        page = response.read().decode()
        assert (response.status, response.headers["Cache-Control"]) == (200, "no-store")
        assert "<title>talk.ndjson" in page
        assert "connect-src 'self'" in page
        assert "Who are you" not in page


@pytest.mark.parametrize("path", ["/", "/events", "/wrong/", "/wrong/events", "{token}", "{token}other"])
def test_any_other_path_is_not_found(file: Path, path: str) -> None:
    with LiveView(file) as view:
        asked = path.replace("{token}", path_of(view) if path.endswith("other") else path_of(view).rstrip("/") + "x/")
        assert get(view, asked).status == 404


@pytest.mark.parametrize("host", ["example.com", "example.com:{port}", "127.0.0.1", ""])
def test_another_host_is_refused(file: Path, host: str) -> None:
    with LiveView(file) as view:
        assert get(view, path_of(view), Host=host.replace("{port}", str(urlsplit(view.url).port))).status == 403
        assert get(view, path_of(view), Host=f"localhost:{urlsplit(view.url).port}").status == 200


def test_it_listens_on_loopback_only(file: Path) -> None:
    with LiveView(file) as view, pytest.raises(OSError):  # noqa: PT011 - of several kinds, by system
        # All of 127.0.0.0/8 is this machine, and a server on all addresses would accept it.
        socket.create_connection(("127.0.0.2", urlsplit(view.url).port or 0), timeout=30).close()


def test_lines_that_are_added_are_sent(file: Path) -> None:
    file.write_bytes(b"".join(TURN[:-1]))
    with LiveView(file) as view:
        stream = get(view, f"{path_of(view)}events")
        assert [each["line"] for each in rows_in(stream, len(TURN) - 1)] == [*range(1, 9)]
        with file.open("ab", buffering=0) as more:
            more.write(b"\n" + chunk(6000, "Ada") + chunk(6001, "Lovelace")[:40])
            # Now it has also read the first half of the next line.
            (added,) = rows_in(stream, 1)
            more.write(chunk(6001, "Lovelace")[40:])
        texts = {
            each["line"]: each["message"]["params"]["update"]["content"]["text"]
            for each in (added, *rows_in(stream, 1))
        }
        assert texts == {10: "Ada", 11: "Lovelace"}


def test_a_stream_goes_on_where_a_lost_one_ended(file: Path) -> None:
    with LiveView(file) as view:
        stream = get(view, f"{path_of(view)}events", **{"Last-Event-ID": "0-7"})
        assert [each["line"] for each in rows_in(stream, 2)] == [8, 9]


@pytest.mark.parametrize("how", ["truncated", "replaced", "replaced by a longer one", "written again"])
def test_a_file_that_begins_anew_reloads_the_page(file: Path, how: str) -> None:
    with LiveView(file) as view:
        stream = get(view, f"{path_of(view)}events")
        rows_in(stream, len(TURN))
        if how == "truncated":
            file.write_bytes(TURN[0])
        elif how == "written again":
            with file.open("r+b") as same:
                same.write(chunk(1, "Ada") + b" " * file.stat().st_size + b"\n")
        else:
            other = file.with_suffix(".new")
            other.write_bytes(TURN[0] if how == "replaced" else b"".join([*TURN, *TURN]))
            shutil.move(other, file)
        assert "event: again" in lines_in(stream)
        assert [each["line"] for each in rows_in(get(view, f"{path_of(view)}events"), 1)] == [1]


def test_the_end_of_the_block_ends_streams_and_threads(file: Path) -> None:
    before = set(threading.enumerate())
    with LiveView(file) as view:
        stream = get(view, f"{path_of(view)}events")
        rows_in(stream, len(TURN))
    assert stream.read().strip(b":\n") == b""
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=30)
    assert set(threading.enumerate()) <= before
    with pytest.raises(ConnectionError):
        get(view, path_of(view))


def test_secrets_are_redacted_unless_they_are_requested(file: Path) -> None:
    secret = "sk-0123456789abcdefghij"
    server = {"name": "x", "command": "/bin/x", "args": [], "env": [{"name": "API_KEY", "value": secret}]}
    new = {"jsonrpc": "2.0", "id": 5, "method": "session/new", "params": {"cwd": "/", "mcpServers": [server]}}
    file.write_text(json.dumps(new) + "\n")
    for shows, expected in ((False, "[redacted]"), (True, secret)):
        with LiveView(file, show_secrets=shows) as view:
            (row,) = rows_in(get(view, f"{path_of(view)}events"), 1)
            assert row["message"]["params"]["mcpServers"][0]["env"][0]["value"] == expected


@pytest.fixture
def command(file: Path) -> Iterator["subprocess.Popen[str]"]:
    arguments = [sys.executable, "-W", "error", "-m", "acp_bindings", "view", str(file), "--serve"]
    new_group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, creationflags=new_group
    ) as process:
        yield process
        process.kill()


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process")
def test_the_command_prints_the_url_and_ends_on_an_interrupt(command: "subprocess.Popen[str]") -> None:
    import signal

    assert command.stdout is not None
    line: str = command.stdout.readline()
    url = urlsplit(line.strip())
    assert url.hostname == "127.0.0.1"
    connection = http.client.HTTPConnection("127.0.0.1", url.port or 0, timeout=30)
    connection.request("GET", url.path)
    assert connection.getresponse().status == 200
    command.send_signal(signal.SIGINT)
    assert (command.wait(timeout=30), command.stderr and command.stderr.read()) == (0, "")

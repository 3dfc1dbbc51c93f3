"""Serves the page of a recording on loopback while the file grows."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from io import FileIO
from pathlib import Path
from socketserver import ThreadingTCPServer
from urllib.parse import urlsplit

from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.view._page import filled
from acp_bindings.view._reading import Rows

_PAUSE = 0.1
"""The seconds between two looks at the file."""
_FIRST = 100
"""The bytes in which two recordings differ, at the latest by their times."""
_ALIVE = 15.0
"""The seconds after which a connection without news gets a comment, so that a closed one is noticed."""
_MOST = 5000
"""The maximum number of rows in one event."""


class LiveView:
    """A page that follows a recording, at `url` while the block is open.

        with LiveView("talk.ndjson") as view:
            print(view.url)
            agent.wait()

    It listens on 127.0.0.1 only. The URL contains a random token, and requests with another `Host` are refused, so
    that neither other users nor web pages can read the conversation.
    """

    def __init__(
        self, file: str | Path, *, protocol: ProtocolPackage | None = None, show_secrets: bool = False
    ) -> None:
        """Open the recording.

        Args:
            file: the file, with one message or event on each line.
            protocol: as in `page_of`.
            show_secrets: True to show the values of `env` and `headers`, and other secrets.

        Raises:
            OSError: the file cannot be opened, or no port is free.
        """
        self._file = Path(file)
        self._rows_of_run = partial(Rows, protocol=protocol, show_secrets=show_secrets)
        self._open: FileIO = self._file.open("rb", buffering=0)
        self._first = b""
        """The first bytes of the file, which has been written again if they change."""
        self._token = secrets.token_urlsafe()
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._run = 0
        """The number of times that the file was replaced."""
        self._rows: list[str] = []
        try:
            self._server = _Server(("127.0.0.1", 0), self._handler())
        except OSError:
            self._open.close()
            raise
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/{self._token}/"
        """The address of the page. Anyone who has it can read the conversation."""

    def __enter__(self) -> LiveView:
        serve = partial(self._server.serve_forever, poll_interval=_PAUSE)
        for work in (self._follow, serve):
            threading.Thread(target=work, name="acp-bindings view", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def _follow(self) -> None:
        """Read what is added to the file. If it is truncated or replaced, begin again."""
        rows, number, rest = self._rows_of_run(), 0, b""
        while not self._closed.is_set():
            if self._is_replaced():
                rows, number, rest = self._rows_of_run(), 0, b""
                with self._changed:
                    self._run, self._rows = self._run + 1, []
                    self._changed.notify_all()
            elif added := self._open.read(1 << 20):
                *lines, rest = (rest + added).split(b"\n")
                for place, line in enumerate(lines, start=number + 1):
                    if line.strip():
                        self._add(rows.read(place, line))
                number += len(lines)
            else:
                self._closed.wait(_PAUSE)
        self._open.close()

    def _add(self, rows: Iterable[str]) -> None:
        with self._changed:
            self._rows += rows
            self._changed.notify_all()

    def _is_replaced(self) -> bool:
        """Return True, with the file open at its beginning, if it is another file or was written again."""
        try:
            now = self._file.stat()
            is_same = now.st_size >= self._open.tell() and os.path.samestat(now, os.fstat(self._open.fileno()))
            if not (is_same and self._begins_as_before()):
                opened = self._file.open("rb", buffering=0)
                self._open.close()
                self._open, self._first = opened, b""
                return True
        except OSError:  # while it is replaced, it may not exist
            pass
        return False

    def _begins_as_before(self) -> bool:
        place = self._open.tell()
        self._open.seek(0)
        before, self._first = self._first, self._open.read(_FIRST)
        self._open.seek(place)
        return self._first.startswith(before)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        view = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                view._respond(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        return Handler

    def _respond(self, request: BaseHTTPRequestHandler) -> None:
        port = self._server.server_address[1]
        if request.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            request.send_error(403, "This host is not allowed")
            return
        _, token, what = (*urlsplit(request.path).path.split("/", 2), "", "")[:3]
        if not secrets.compare_digest(token.encode(), self._token.encode()) or what not in ("", "events"):
            request.send_error(404)
            return
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream" if what else "text/html; charset=utf-8")
        for name, value in _HEADERS.items():
            request.send_header(name, value)
        request.end_headers()
        with suppress(ConnectionError):
            if what:
                self._send_events(request)
            else:
                page = "".join(filled([], name=self._file.name, live="events"))
                request.wfile.write(page.encode())

    def _send_events(self, request: BaseHTTPRequestHandler) -> None:
        """Send all rows, and then those that are added. After a lost connection, go on after the last received one."""
        run, _, sent = request.headers.get("Last-Event-ID", f"{self._run}-0").partition("-")
        count = int(sent) if sent.isdecimal() else 0
        while not self._closed.is_set():
            with self._changed:
                if str(self._run) == run and len(self._rows) <= count:
                    self._changed.wait(_ALIVE)
                is_over = str(self._run) != run
                rows = self._rows[count : count + _MOST]
            if is_over:
                request.wfile.write(b"event: again\ndata:\n\n")
                return
            count += len(rows)
            event = f"id: {run}-{count}\n" + "".join(f"data: {row}\n" for row in rows) if rows else ":\n"
            request.wfile.write(f"{event}\n".encode())


_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

"""Runs `acp-bindings view`."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import webbrowser
from contextlib import suppress
from pathlib import Path

from acp_bindings._atomic_write import atomic_write
from acp_bindings._command.check import lines_in
from acp_bindings._standard_streams import printable, shown_on
from acp_bindings.check._inputs import Document, Unusable, is_event, is_message, line_of, read_input
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup._versions import package_named
from acp_bindings.view import LiveView, page_of


def write_page(
    name: str, out: str | None, *, protocol: str | None, open_browser: bool | None, show_secrets: bool
) -> int:
    """Write the page for a recording and return the exit status. Without *out*, it becomes a temporary file."""
    parts = page_of(lines_in(name), name=Path(name).name, protocol=_package(protocol), show_secrets=show_secrets)
    opens = out is None if open_browser is None else open_browser
    try:
        first = next(parts)
        if out == "-":
            # In UTF-8, as the page says, on every terminal.
            sys.stdout.buffer.write(first.encode())
            sys.stdout.buffer.writelines(map(str.encode, parts))
            return 0
        page = "".join([first, *parts]).encode()
    except Unusable as error:
        return _refused(name, str(error))
    try:
        if out is None:
            handle, out = tempfile.mkstemp(prefix=f"{Path(name).stem}-", suffix=".html")
            with open(handle, "wb") as file:
                file.write(page)
        elif name != "-" and os.path.exists(out) and os.path.samefile(name, out):
            return _refused(out, "this is the recording; give another file for the page")
        else:
            atomic_write(out, page, private=True)
    except OSError as error:
        return _refused(out or tempfile.gettempdir(), f"it cannot be written: {error.strerror}")
    _print(out)
    if opens:
        webbrowser.open(Path(out).resolve().as_uri())
    return 0


def serve_page(name: str, *, protocol: str | None, open_browser: bool, show_secrets: bool, until_eof: bool) -> int:
    """Serve the page for a recording until Ctrl-C or the end of standard input, and return the exit status."""
    try:
        _refuse_others(name)
        live = LiveView(name, protocol=_package(protocol), show_secrets=show_secrets)
    except Unusable as error:
        return _refused(name, str(error))
    except OSError as error:
        return _refused(name, f"it cannot be read: {error.strerror}")
    with live, suppress(KeyboardInterrupt):
        _print(live.url)
        if open_browser:
            webbrowser.open(live.url)
        while not (until_eof and sys.stdin.read() == ""):
            time.sleep(3600)
    return 0


def _refuse_others(name: str) -> None:
    """Check that a file is a recording, of which perhaps nothing is written yet.

    Raises:
        Unusable: it contains something else, or cannot be read.
    """
    for each in lines_in(name):
        line = line_of(each)
        if line.at or is_event(line.value) or is_message(line.value):
            return
        if each.endswith(b"\n"):
            if isinstance(read_input(lines_in(name)), Document):
                raise Unusable("--serve needs one message on each line")
            return


def _package(name: str | None) -> ProtocolPackage | None:
    return package_named(name) if name else None


def _print(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def _refused(name: str, reason: str) -> int:
    sys.stderr.write(shown_on(sys.stderr, f"acp-bindings view: {printable(name)}: {reason}\n"))
    return 2

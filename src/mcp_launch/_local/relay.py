"""The command that an agent starts for a server offered over stdio: forwards bytes to the offering process and back.

It runs as a script in an isolated interpreter (`-I -S`) in any directory. It imports only the standard library, so it
does not run code from that directory, and it starts quickly.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

TOKEN = "MCP_LAUNCH_TOKEN"  # noqa: S105 - the name of the variable, not what is in it
"""The environment variable with the token; arguments are visible to every user of the machine."""
WELCOME = b"\n"
"""The reply to the correct token."""
_PATIENCE = 10.0
_CHUNK = 1 << 16


def main() -> int:
    """Forward bytes in both directions until one side is closed, and return the exit status."""
    try:
        connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=_PATIENCE)
        connection.sendall(os.environ.get(TOKEN, "").encode() + b"\n")
        if connection.recv(1) != WELCOME:
            return _fail("the client that offers this MCP server did not accept the token")
    except OSError as error:
        return _fail(f"the client that offers this MCP server cannot be reached ({error}); has its session ended?")
    connection.settimeout(None)
    threading.Thread(target=_pass_input, args=[connection], daemon=True).start()
    try:
        while chunk := connection.recv(_CHUNK):
            _write(chunk)
    except OSError:
        # One side is gone, and there is no way to report it.
        return 1
    return 0


def _pass_input(connection: socket.socket) -> None:
    try:
        # Unbuffered, because this thread would hold the lock of sys.stdin when the process ends.
        while chunk := os.read(0, _CHUNK):
            connection.sendall(chunk)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return


def _write(chunk: bytes) -> None:
    while chunk:
        chunk = chunk[os.write(1, chunk) :]


def _fail(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

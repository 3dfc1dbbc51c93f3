"""The command that an agent starts in place of a stdio server. It starts the server, and sends copies to the tap.

It runs as a script in an isolated interpreter (`-I -S`) in any directory, and imports only the standard library.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

if not __package__:
    # Isolated interpreters do not find our package by themselves.
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from acp_bindings._tap.forwarding import (
    CannotForward,
    Copies,
    copying,
    forward,
    framed,
    frames_of,
    signals_kept,
    start,
)

TOKEN = "ACP_BINDINGS_TAP_TOKEN"  # noqa: S105 - the name of the variable, not what is in it
"""The environment variable with the token; arguments are visible to every user of the machine."""
_PATIENCE = 10.0


def main() -> int:
    """Run the server until it exits, and return its exit status."""
    env = dict(os.environ)
    token = env.pop(TOKEN, "")
    try:
        connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=_PATIENCE)
        connection.sendall(framed(b"t", token.encode()))
        with connection.makefile("rb") as replies:
            server = json.loads(next(frames_of(replies)).data)
        connection.settimeout(None)
    except (OSError, StopIteration) as error:
        sys.stderr.write(f"acp-bindings tap is no longer running ({error}); start a new session\n")
        return 1
    copies = Copies(connection.sendall, lost=lambda: None)
    with signals_kept() as forward_signals_to:
        try:
            child = start([server["command"], *server["args"]], env={**env, **server["env"]})
        except CannotForward as error:
            sys.stderr.write(f"{error}\n")
            copies.add(b"n", str(error).encode())
            status = error.status
        else:
            forward_signals_to(child)
            copies.add(b"s", b"%d" % child.pid)
            status = forward(child, copying(copies))
            copies.add(b"x", b"%d" % status)
        copies.finish(seconds=1)
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())

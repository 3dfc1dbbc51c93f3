"""A proxy between a client and an agent. It forwards every line unchanged, except for the commands of MCP servers.

A client starts it in place of the agent, as `python between.py talk.ndjson my-agent --acp`. All messages are written to
the file, for `acp-bindings check`. The file contains their secrets.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from acp_bindings import encode
from acp_bindings.setup import CommandNotFound, resolve_command


def with_absolute_commands(line: bytes) -> bytes:
    """Return a line of the client, with commands found on its own PATH, because the agent may have another."""
    try:
        message: Any = json.loads(line)
        changed = False
        for server in message["params"]["mcpServers"]:
            match server:
                case {"command": str(named)}:
                    server["command"] = found = resolve_command(named)
                    changed |= found != named
                case _:
                    pass  # another transport, or not a server
        return encode(message) + b"\n" if changed else line
    except (CommandNotFound, KeyError, RecursionError, TypeError, ValueError):
        # Not a request for a session, or an invalid one, which the agent reports.
        return line


class Recorder:
    """Forwards the messages of each side, and writes them to a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._one_at_a_time = threading.Lock()

    def pass_on(self, who: str, source: Iterable[bytes], sink: BinaryIO) -> None:
        """Forward lines until one side closes its output, or the other no longer reads."""
        try:
            for line in source:
                sent = with_absolute_commands(line) if who == "client" else line
                said = {"from": who, "message": sent.decode(errors="replace")}
                with self._one_at_a_time:
                    self._file.write(encode(said) + b"\n")
                sink.write(sent)
                sink.flush()
            sink.close()
        except OSError:
            return


def main(record: str, *command: str) -> int:
    """Run the agent until it ends, and end as it does."""
    with (
        Path(record).open("ab", buffering=0) as file,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent,
    ):
        assert agent.stdin
        assert agent.stdout
        recorder = Recorder(file)
        # A read of standard input cannot be interrupted, so thread and file are left behind.
        client = os.fdopen(0, "rb", closefd=False)
        threading.Thread(target=recorder.pass_on, args=("client", client, agent.stdin), daemon=True).start()
        recorder.pass_on("agent", agent.stdout, sys.stdout.buffer)
        return agent.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

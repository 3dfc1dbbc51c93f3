"""Stands between a client and an agent: every line goes on as it came, but for the commands of MCP servers.

A client starts it in place of the agent, as `python between.py talk.ndjson my-agent --acp`. What both say is written to
the file, for `acp-bindings check`; it holds their secrets.
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
    """A line of the client, with the commands that its own PATH finds: the agent may have another."""
    try:
        message: Any = json.loads(line)
        changed = False
        for server in message["params"]["mcpServers"]:
            match server:
                case {"command": str(named)}:
                    server["command"] = found = resolve_command(named)
                    changed |= found != named
                case _:
                    pass  # of another transport, or none at all
        return encode(message) + b"\n" if changed else line
    except (CommandNotFound, KeyError, RecursionError, TypeError, ValueError):
        # No request for a session, or one that cannot be mended, of which the agent says what is wrong.
        return line


class Recorder:
    """Passes on what each side says, and writes it down."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._one_at_a_time = threading.Lock()

    def pass_on(self, who: str, source: Iterable[bytes], sink: BinaryIO) -> None:
        """Until one side has said all, or the other hears no more."""
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
        # Nobody can end a read of standard input: thread and file are left behind.
        client = os.fdopen(0, "rb", closefd=False)
        threading.Thread(target=recorder.pass_on, args=("client", client, agent.stdin), daemon=True).start()
        recorder.pass_on("agent", agent.stdout, sys.stdout.buffer)
        return agent.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

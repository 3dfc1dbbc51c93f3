"""A contestant: starts the agent behind one of the taps, and measures trips and streams."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.race import answer_tasks

TRIPS, UPDATES = 500, 20_000
AGENT = [sys.executable, "-m", "benchmarks.tap.agent"]
TAP = [sys.executable, "-m", "acp_bindings", "tap", "-o"]
BETWEEN = str(Path(__file__).parents[2] / "examples" / "between.py")
CONTESTANTS = {
    "bare": lambda _: AGENT,
    "tee": lambda file: ["sh", "-c", f"tee -a {file} | {' '.join(AGENT)} | tee -a {file}"],
    "between.py": lambda file: [sys.executable, BETWEEN, file, *AGENT],
    "tap": lambda file: [*TAP, file, "--", *AGENT],
    "tap --check": lambda file: [*TAP, file, "--check", "--", *AGENT],
}


class Client:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._sink, self._source = process.stdin, process.stdout
        self._number = 0

    def ask(self, updates: int = 0) -> float:
        """Send a request, read everything up to its response, and return the seconds."""
        self._number += 1
        params = {"updates": updates} if updates else {}
        line = json.dumps({"jsonrpc": "2.0", "id": self._number, "method": "session/prompt", "params": params})
        began = time.perf_counter()
        self._sink.write(line.encode() + b"\n")
        self._sink.flush()
        for _ in range(updates):
            self._source.readline()
        answer = json.loads(self._source.readline())
        seconds = time.perf_counter() - began
        assert answer["id"] == self._number
        return seconds

    def median(self) -> float:
        return statistics.median(self.ask() for _ in range(TRIPS))

    def p99(self) -> float:
        return statistics.quantiles((self.ask() for _ in range(TRIPS)), n=100)[-1]

    def stream(self) -> float:
        return self.ask(UPDATES) / UPDATES


@contextmanager
def behind(name: str) -> Iterator[Client]:
    with tempfile.TemporaryDirectory() as folder:
        command = CONTESTANTS[name](f"{folder}/talk")
        quiet = subprocess.DEVNULL if "--check" in name else None
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet) as process:
            yield Client(process)
            process.kill()


def main(name: str) -> None:
    with behind(name) as client:
        client.ask()
        answer_tasks({"median": client.median, "p99": client.p99, "stream": client.stream})


if __name__ == "__main__":
    main(sys.argv[1])

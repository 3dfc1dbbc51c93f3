"""Play every client scenario of `@modelcontextprotocol/conformance` with our session, and with the SDK's alone.

    python -m tests.conformance [--jobs N] [SCENARIO ...]

Prints a table; fails when ours fails at something that is not expected, or no longer fails at what is.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PACKAGE = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance"
CLIENTS = {"mcp_launch": ("mcp_launch", "asyncio"), "on trio": ("mcp_launch", "trio"), "mcp alone": ("mcp", "asyncio")}
"""The columns of the table, with the arguments of `relay.py` for each."""
OURS = ("mcp_launch", "on trio")
PATIENCE = 30
"""Timeout in seconds for one scenario."""

EXPECTED = {
    "auth/2025-03-26-oauth-metadata-backcompat": "the server of 0.1.16 names an issuer with a path, but shows its "
    "metadata at the root, which RFC 8414 tells clients to refuse; mended since, in "
    "https://github.com/modelcontextprotocol/conformance/pull/359",
}
"""The scenarios that ours need not pass, with reasons."""
BAD = ("FAILURE", "WARNING")
"""A warning means that a SHOULD of the specification was not followed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one scenario."""

    passed: int
    complaints: list[str]

    @property
    def failed(self) -> int:
        return len(self.complaints)

    def __str__(self) -> str:
        return f"{self.passed} ok" + (f", {self.failed} FAILED" if self.failed else "")


def main() -> int:
    """Play all scenarios, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="of all, only these")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    options = parser.parse_args()

    began = time.monotonic()
    scenarios = _scenarios()
    if options.scenarios:
        scenarios = {name: scenarios[name] for name in options.scenarios}
    plays = [(client, name) for name in scenarios for client in CLIENTS]
    with _clients() as relay, ThreadPoolExecutor(options.jobs) as pool:
        outcomes = dict(zip(plays, pool.map(partial(_play, relay), *zip(*plays, strict=True)), strict=True))

    unexpected = _print_table(scenarios, outcomes)
    for client in CLIENTS:
        good = sum(not outcomes[client, name].failed for name in scenarios)
        checks = sum(outcomes[client, name].passed for name in scenarios)
        print(f"{client}: {good} of {len(scenarios)} scenarios, {checks} checks passed")
    print(f"{_version()}, Python {platform.python_version()}, {time.monotonic() - began:.0f} s")
    for line in unexpected:
        print(line)
    return 1 if unexpected else 0


def _print_table(scenarios: dict[str, str], outcomes: dict[tuple[str, str], Outcome]) -> list[str]:
    """Print the outcome of each scenario, and return the unexpected ones."""
    unexpected: list[str] = []
    row = f"{{:<{max(map(len, scenarios))}}}  {{:<23}} {{:<15}} {{:<15}} {{}}".format
    print(row("scenario", "protocol", *CLIENTS))
    for name, versions in scenarios.items():
        print(row(name, versions, *(str(outcomes[client, name]) for client in CLIENTS)))
        ours = [outcomes[client, name] for client in OURS]
        # Once, what is the same on both event loops.
        for complaint in dict.fromkeys(complaint for outcome in ours for complaint in outcome.complaints):
            print(f"    {complaint}")
        failed = any(outcome.failed for outcome in ours)
        if failed and name in EXPECTED:
            print(f"    expected: {EXPECTED[name]}")
        elif failed:
            unexpected.append(f"{name} failed, and should not")
        elif name in EXPECTED:
            unexpected.append(f"{name} passes now: it is no longer to be expected that it fails")
    return unexpected


def _scenarios() -> dict[str, str]:
    """Return the names of the scenarios with the protocol versions of each."""
    listed = _conformance("list", "--client").stdout
    found = re.findall(r"^ +- (\S+) \[(.*)\]$", listed, re.MULTILINE)
    assert found, listed
    return {name: versions.replace(",", ", ") for name, versions in found}


@contextmanager
def _clients() -> Generator[list[str]]:
    """Run client.py, and yield the command that makes it play a scenario."""
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder, "socket"))
        command = [sys.executable, "-W", "ignore", str(FOLDER / "client.py"), place]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            try:
                yield [sys.executable, "-SI", str(FOLDER / "relay.py"), place]
            finally:
                process.terminate()


def _play(relay: list[str], client: str, scenario: str) -> Outcome:
    command = shlex.join([*relay, *CLIENTS[client]])
    with tempfile.TemporaryDirectory() as folder:
        options = ("--command", command, "--scenario", scenario, "--timeout", str(PATIENCE * 1000), "-o", folder)
        run = _conformance("client", *options)
        [results] = Path(folder).rglob("checks.json")
        checks = json.loads(results.read_bytes())
        said = results.with_name("stderr.txt").read_text(encoding="utf-8").strip().splitlines()
    bad = [check for check in checks if check["status"] in BAD]
    if run.returncode and not bad:
        # The client broke off where no check looks at that.
        complaints = said[-1:] or [f"it did not end within {PATIENCE} s"]
    else:
        complaints = [f"{check['status'].lower()}: {check['description']}" for check in bad if not _is_slow(check)]
    return Outcome(sum(check["status"] == "SUCCESS" for check in checks), complaints)


def _is_slow(check: dict[str, Any]) -> bool:
    """Return True if the only complaint is a slightly late reconnection, as can happen on a busy machine."""
    return check["status"] == "WARNING" and bool(check.get("details", {}).get("slightlyLate"))


def _conformance(*arguments: str) -> subprocess.CompletedProcess[str]:
    installed = FOLDER / "node_modules" / ".bin"
    node = shutil.which("node", path=os.pathsep.join((str(installed), os.environ["PATH"])))
    assert node, "Node is not installed: run `nox -s conformance`"
    command = [node, PACKAGE / "dist" / "index.js", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * PATIENCE)


def _version() -> str:
    package = json.loads((PACKAGE / "package.json").read_bytes())
    return f"{package['name']} {package['version']}"


if __name__ == "__main__":
    raise SystemExit(main())

"""The tests that pytest collects from a config file: one per server, with all servers started together."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from anyio.from_thread import BlockingPortal

from acp_bindings._standard_streams import without_ci_commands
from mcp_launch._command.find_servers import inputs_of, read_file
from mcp_launch._command.show.text import named_fact
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch.config import Entry, Finding
from mcp_launch.failures import LaunchFailure, Phrases, UnusableInput
from mcp_launch.fleet import Fleet, launch
from mcp_launch.logins import StoredLogins
from mcp_launch.options import EVERYTHING, Budgets, Options
from mcp_launch.report import ServerReport
from mcp_launch.testing import _settings as settings
from mcp_launch.testing._loop import Kept, held, portal_of


class McpServerWarning(pytest.PytestWarning):
    """A problem of a server that does not stop it."""


class McpConfig(pytest.File):
    """A config file, whose servers run from its first test to its last."""

    def collect(self) -> Iterator[McpServer]:
        """Yield a test for each server."""
        try:
            inputs = inputs_of(self.config.getoption("mcp_set") or (), option="--mcp-set")
            config = read_file(str(self.path), inputs=inputs)
        except UnusableInput as error:
            raise self.CollectError(str(error)) from None
        for each in config.findings:
            if each.server is None:
                _warn(self, _placed(self.path, each))
        taken: set[str] = set()
        for entry in config.entries:
            more = {
                "entry": entry,
                "cwd": settings.directory(self.config, config.cwd, entry.cwd),
                "is_twin": entry.name in taken,
                "phrases": config.phrases,
                "findings": [each for each in config.findings if each.server == entry.name],
            }
            # pytest leaves its arguments without types.
            yield McpServer.from_parent(self, name=entry.name, **more)  # pyright: ignore[reportUnknownMemberType]
            taken.add(entry.name)

    def setup(self) -> None:
        """Start the servers."""
        self._running = ExitStack()
        self._started: dict[McpServer, LaunchedServer] = {}
        self._seconds = settings.timeout(self.config)
        self.portal: BlockingPortal = portal_of(self.config)
        budgets = Budgets(connect=self._seconds, handshake=self._seconds, list=self._seconds)
        own = [item for item in self.session.items if isinstance(item, McpServer) and item.parent is self]
        self._fleets: dict[str, Fleet] = {}
        for cwd in {item.cwd for item in own}:
            block = Kept(launch([], cwd=cwd, budgets=budgets, lists=EVERYTHING))
            self._fleets[cwd] = self._running.enter_context(held(self.portal, block))
        # A worker of pytest-xdist gets its tests one by one, and starts each server with its test.
        if not hasattr(self.config, "workerinput"):
            self.portal.call(self._start, own)

    def teardown(self) -> None:
        """Close the servers."""
        self._running.close()

    def diagnose(self, item: McpServer) -> tuple[ServerReport, LaunchFailure | None]:
        """Wait until a server is ready or has failed, and return its report and its failure."""
        if item not in self._started:
            self.portal.call(self._start, [item])
        found: tuple[ServerReport, LaunchFailure | None] = self.portal.call(self._settled, item)
        return found

    def _start(self, items: list[McpServer]) -> None:
        for item in items:
            if not (item.is_twin or item.entry.disabled):
                options = Options(secrets=item.entry.secrets, phrases=item.phrases, auth=StoredLogins())
                fleet = self._fleets[item.cwd]
                self._started[item] = fleet.add(item.entry.server, options=options, timeout=self._seconds)

    async def _settled(self, item: McpServer) -> tuple[ServerReport, LaunchFailure | None]:
        server = self._started[item]
        await server.settled()
        (report,) = [each for each in self._fleets[item.cwd].report["servers"] if each["name"] == server.name]
        return report, server.failure


class McpServer(pytest.Item):
    """The test of one server: it passes when the server is ready and has listed what it offers."""

    def __init__(
        self, *, entry: Entry, cwd: str, is_twin: bool, findings: list[Finding], phrases: Phrases, **node: Any
    ) -> None:
        super().__init__(**node)  # pyright: ignore[reportUnknownMemberType]
        self.entry = entry
        self.cwd = cwd
        self.findings = findings
        self.phrases = phrases
        self.is_twin = is_twin
        """True if an earlier server of the file has the same name."""

    def runtest(self) -> None:
        """Wait for the server, and report its problems."""
        told = [_placed(self.path, each) for each in self.findings]
        if self.entry.disabled:
            pytest.skip("; ".join(told))
        if self.is_twin:
            # The launcher's message. On a worker of pytest-xdist the launcher does not know the other server.
            self.user_properties += [("mcp_code", "duplicate_name"), ("mcp_stage", "spec")]
            said = "another server has the same name; names must differ"
            pytest.fail(f"{self.name}: {said}\n    duplicate_name in spec", pytrace=False)
        report, failure = cast("McpConfig", self.parent).diagnose(self)
        self.user_properties += _properties(report)
        if failure is not None:
            pytest.fail(_explained(self.name, failure, [*told, *report["warnings"]]), pytrace=False)
        for warning in [*told, *report["warnings"]]:
            _warn(self, f"{self.name}: {warning}")

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return the file, line and name that pytest reports."""
        return self.path, 0, self.name


def _warn(node: pytest.Item | pytest.File, text: str) -> None:
    # Line 0: pytest shows the line of a warning, which may contain a secret in a config file.
    warnings.warn_explicit(
        McpServerWarning(without_ci_commands(text)), category=None, filename=node.nodeid.partition("::")[0], lineno=0
    )


def _placed(path: Path, found: Finding) -> str:
    message = found.message.replace("pass --set ", "pass --mcp-set ")
    return f"{path.name}:{found.line}:{found.column}: {message}"


def _properties(report: ServerReport) -> list[tuple[str, object]]:
    """Return facts about the server for `--junitxml`."""
    failure = report["failure"]
    known: dict[str, object] = {
        "transport": report["transport"],
        "target": report["target"],
        "seconds": failure["elapsed"] if failure else round(sum(report["seconds"].values()), 3),
        "protocol_version": report["protocol_version"],
        **report["counts"],
    }
    if failure:
        known |= {"code": failure["code"], "stage": failure["stage"], "facts": json.dumps(failure["facts"])}
    return [(f"mcp_{name}", str(value)) for name, value in known.items() if value is not None]


def _explained(name: str, failure: LaunchFailure, warnings: list[str]) -> str:
    facts = [line for fact, value in failure.facts.items() if value != [] for line in named_fact(fact, value)]
    where = f"{failure.code} in {failure.stage} after {failure.elapsed:.1f} s"
    more = [where, *facts, *(f"warning: {warning}" for warning in warnings)]
    return without_ci_commands("\n    ".join([f"{name}: {failure.message}", *more]))

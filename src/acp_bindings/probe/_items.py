"""The tests that pytest collects for `--acp-agent`: one for each check. One probe serves them all."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal

from acp_bindings._standard_streams import without_ci_commands
from acp_bindings.probe._check import Check
from acp_bindings.probe._probe_report import Report, Result, lines_of
from acp_bindings.probe._probing import TIMEOUT, choose, is_url, probe


class AcpProbeWarning(pytest.PytestWarning):
    """A warning: the agent does something against a recommendation."""


def collector(session: pytest.Session) -> AcpAgent:
    """Return the collector for the agent of the command line."""
    return AcpAgent.from_parent(session, name="acp-agent")  # pyright: ignore[reportUnknownMemberType]


class AcpAgent(pytest.Collector):
    """An agent, which is probed while its tests run."""

    def collect(self) -> Iterator[AcpCheck]:
        """Yield a test for each check of the version."""
        version: Any = self.config.getoption("acp_version")
        for each in choose(version=version):
            more = {"check": each}
            # pytest leaves its arguments without types.
            yield AcpCheck.from_parent(self, name=each.id, **more)  # pyright: ignore[reportUnknownMemberType]

    def setup(self) -> None:
        """Start the probe of the selected checks, in a thread."""
        items = [each for each in self.session.items if isinstance(each, AcpCheck) and each.parent is self]
        self._results: dict[str, Future[Result]] = {each.check.id: Future() for each in items}
        self._running = ExitStack()
        portal = self._running.enter_context(start_blocking_portal())
        self._probe: Future[Report] = portal.start_task_soon(self._run)
        self._probe.add_done_callback(self._give_up)

    def teardown(self) -> None:
        """Stop the probe."""
        self._probe.cancel()
        self._running.close()

    def result_of(self, check: Check) -> Result:
        """Wait for the result of a check."""
        return self._results[check.id].result()

    async def _run(self) -> Report:
        option: Any = self.config.getoption
        agent: str = option("acp_agent")
        return await probe(
            agent if is_url(agent) else shlex.split(agent),
            version=option("acp_version"),
            prompt=option("acp_prompt"),
            auth=option("acp_auth"),
            headers=dict(option("acp_header") or []),
            timeout=option("acp_timeout") or TIMEOUT,
            only=[*self._results],
            done=lambda result: self._results[result.check.id].set_result(result),
        )

    def _give_up(self, finished: Future[Report]) -> None:
        """Pass an error of the probe on to the tests that wait."""
        if finished.cancelled() or (error := finished.exception()) is None:
            return
        for each in self._results.values():
            if not each.done():
                each.set_exception(error)


class AcpCheck(pytest.Item):
    """The test of one check."""

    def __init__(self, *, check: Check, **node: Any) -> None:
        super().__init__(**node)  # pyright: ignore[reportUnknownMemberType]
        self.check = check

    def runtest(self) -> None:
        """Wait for the result, and report it."""
        parent: Any = self.parent
        result: Result = parent.result_of(self.check)
        text = without_ci_commands("\n".join(lines_of(result)))
        if result.status == "skip":
            pytest.skip(result.message)
        if result.status == "fail":
            pytest.fail(text, pytrace=False)
        if result.status == "warn":
            self.warn(AcpProbeWarning(text))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:  # noqa: ARG002
        """Return the text of a failure. A traceback would show the environment variables, which may be secrets."""
        error = excinfo.value
        return str(error) if isinstance(error, pytest.fail.Exception) else f"{type(error).__name__}: {error}"

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return the file, line and name that pytest reports."""
        return self.path, 0, self.check.id

"""The report of a probe: its results, and how they are printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from acp_bindings._standard_streams import printable
from acp_bindings.probe._check import Check, Status

_COUNTED: dict[Status, str] = {"ok": "ok", "fail": "failed", "warn": "warned", "skip": "skipped"}
WORDS: dict[Status, str] = {"ok": "ok", "fail": "FAIL", "warn": "warn", "skip": "skip"}


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a check."""

    check: Check
    status: Status
    message: str = ""
    """The problem, or the reason why the check was skipped; empty if it is `ok`."""
    lines: tuple[str, ...] = ()
    """The lines of the conversation that show it, each with its sender. Long ones are shortened."""
    cure: str = ""
    """The advice; empty unless the agent failed or was warned."""
    seconds: float = 0.0


@dataclass(kw_only=True)
class Report:
    """The results of a probe, in the order of the checks."""

    target: str = ""
    """The command or the URL, without secrets."""
    version: int
    """The version of the protocol."""
    when: datetime
    agent: str = ""
    """The name and version of the agent, as it tells them."""
    seconds: float = 0.0
    results: list[Result] = field(default_factory=list[Result])

    def count(self, status: Status) -> int:
        """Return how many checks have a status."""
        return sum(each.status == status for each in self.results)

    @property
    def has_failed(self) -> bool:
        """True if a check has failed. Warnings do not count."""
        return self.count("fail") > 0

    @property
    def summary(self) -> str:
        """The counts: `52 ok, 1 failed, 2 warned, 8 skipped`."""
        return ", ".join(f"{self.count(status)} {word}" for status, word in _COUNTED.items() if self.count(status))

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "target": self.target,
            "version": self.version,
            "agent": self.agent,
            "time": self.when.isoformat().replace("+00:00", "Z"),
            "seconds": round(self.seconds, 3),
            "counts": {status: self.count(status) for status in WORDS},
            "results": [
                {
                    "id": each.check.id,
                    "status": each.status,
                    "requires": each.check.requires,
                    "source": each.check.source,
                    "message": each.message,
                    "lines": list(each.lines),
                    "cure": each.cure,
                    "seconds": round(each.seconds, 3),
                }
                for each in self.results
            ],
        }


def lines_of(result: Result) -> Iterator[str]:
    """Yield the line of a result and, if it is not `ok`, what explains it."""
    word = WORDS[result.status]
    if result.status in ("ok", "skip"):
        rest = f"  ({result.message})" if result.message else ""
        yield printable(f"{word:5} {result.check.id:30}{rest}").rstrip()
        return
    yield printable(f"{word:5} {result.check.id:30}  {result.message}")
    yield printable(f"      required: {result.check.requires} [{result.check.source}]")
    yield from (printable(f"        {line}") for line in result.lines)
    if result.cure:
        yield printable(f"      try: {result.cure}")


def summary_of(report: Report) -> str:
    """Return the last line of the output."""
    agent = f"{report.agent}, " if report.agent else ""
    return printable(f"{report.summary} ({agent}version {report.version}, {report.seconds:.1f} s)")


def json_of(report: Report) -> str:
    """Return the report as a JSON document."""
    return json.dumps(report.as_json(), ensure_ascii=False, indent=2)

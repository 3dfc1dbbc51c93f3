"""A report as a self-contained HTML page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Literal

from acp_bindings._reports import page_environment
from acp_bindings._standard_streams import version
from mcp_launch._command.show.text import elapsed, fact_lines, of_files, placed, with_findings
from mcp_launch._json_values import indented
from mcp_launch.failures import Stage
from mcp_launch.options import EVERYTHING
from mcp_launch.report import CheckReport, ServerReport

_MOST_TICKS = 6
_SHORT = 160
"""The length of a description that is shown before it is opened."""
_FEW = 24
"""The maximum number of tools that are shown unfolded; a report with more only shows their number."""


def page(report: CheckReport, *, source: str, when: datetime, strict: bool = False) -> str:
    """Return the report on the servers of *source*, started at *when*. With *strict*, a warning is a failure."""
    servers = [_Server(number, raw, strict) for number, raw in enumerate(with_findings(report), start=1)]
    longest = max((server.elapsed for server in servers), default=0.0)
    environment = page_environment()
    filters: dict[str, Any] = environment.filters
    filters |= {"seconds": _seconds, "share": _share, "tick": _tick}
    template = files("mcp_launch._command.show").joinpath("page.html").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        program="mcp-launch",
        servers=servers,
        first=next((server for server in servers if server.raw["failure"]), None),
        findings=[(each["level"].capitalize(), placed(each, named=True)) for each in of_files(report)],
        longest=longest,
        ticks=ticks(longest),
        legend=_legend(servers),
        totals=_totals(servers),
        unfolded=sum(len(server.tools) for server in servers) <= _FEW,
        source=source,
        when=when.astimezone(UTC),
        version=version(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One stage of one server."""

    stage: Stage
    start: float
    """Seconds from the start of the server."""
    seconds: float
    failed: bool = False
    """True if the server failed in this stage."""


def spans(server: ServerReport) -> list[Span]:
    """Return the stages of a server in order; if it failed, the last is the one in which it failed."""
    found: list[Span] = []
    spent = 0.0
    for stage, seconds in server["seconds"].items():
        found.append(Span(stage=stage, start=spent, seconds=seconds))
        spent += seconds
    if failure := server["failure"]:
        found.append(Span(stage=failure["stage"], start=spent, seconds=elapsed(server) - spent, failed=True))
    return found


def ticks(longest: float) -> list[float]:
    """Return at most `_MOST_TICKS` round numbers of seconds from zero to *longest*."""
    if longest <= 0:
        return [0.0]
    power = 10.0 ** math.floor(math.log10(longest / _MOST_TICKS))
    step = next(step for step in (2 * power, 5 * power, 10 * power, 20 * power) if longest / step < _MOST_TICKS)
    return [round(step * number, 9) for number in range(int(longest / step) + 1)]


@dataclass(frozen=True, slots=True)
class _Server:
    """A server, with the properties that the template uses."""

    number: int
    """Its number in the report, used for ids, because its name may contain any character."""
    raw: ServerReport
    strict: bool

    @property
    def is_too_bad(self) -> bool:
        """True if it only failed because of warnings."""
        return self.strict and bool(self.raw["warnings"]) and not self.raw["failure"]

    @property
    def kind(self) -> Literal["failed", "works"]:
        return "failed" if self.raw["failure"] or self.is_too_bad else "works"

    @property
    def elapsed(self) -> float:
        return elapsed(self.raw)

    @property
    def spans(self) -> list[Span]:
        return spans(self.raw)

    @property
    def tools(self) -> list[tuple[str, str, str]]:
        """The name, the description, and the start of a long description."""
        return [(tool["name"], *_described(tool["description"] or "")) for tool in self.raw["tools"] or ()]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The facts of the failure, as texts."""
        failure = self.raw["failure"]
        return [(name, "\n".join(fact_lines(value))) for name, value in failure["facts"].items()] if failure else []

    @property
    def capabilities(self) -> str:
        return indented(self.raw["capabilities"], ensure_ascii=False)

    @property
    def offers(self) -> list[tuple[int, str]]:
        """The number of items of each kind that it offers."""
        return [(count, kind.replace("_", " ")) for kind, count in self.raw["counts"].items() if count]


def _totals(servers: list[_Server]) -> dict[str, int]:
    kinds = {kind: sum(server.kind == kind for server in servers) for kind in ("failed", "works")}
    warned = sum(bool(server.raw["warnings"]) for server in servers)
    counts = [server.raw["counts"] for server in servers]
    offered: dict[str, int] = {kind: sum(each.get(kind, 0) for each in counts) for kind in EVERYTHING}
    return {**kinds, "warned": warned, **offered}


def _legend(servers: list[_Server]) -> list[list[str]]:
    """Return the stages in the bars, grouped by colour, in their order."""
    seen = {"failed" if span.failed else span.stage for server in servers for span in server.spans}
    of_one_colour = (("spec", "spawn", "connect"), ("handshake",), ("list",), ("call", "close"), ("failed",))
    return [found for stages in of_one_colour if (found := [stage for stage in stages if stage in seen])]


def _described(text: str) -> tuple[str, str]:
    text = text.strip()
    first = text.partition("\n")[0]
    return text, f"{first[:_SHORT].rstrip()}\u2026" if len(text) > 2 * _SHORT else ""


def _share(seconds: float, longest: float, *, least: float = 0.0) -> str:
    """Return a position on the scale, or a length that is still visible."""
    return f"{max(100 * seconds / longest if longest else 0.0, least):.3f}%"


def _tick(seconds: float) -> str:
    return f"{seconds:g} s" if seconds else "0"


def _seconds(seconds: float) -> str:
    """Return seconds with significant digits only."""
    if seconds >= 10:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"

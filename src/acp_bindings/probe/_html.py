"""Writes a report as a self-contained HTML page."""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby

from acp_bindings._reports import page_environment
from acp_bindings._standard_streams import version
from acp_bindings.probe._check import Status
from acp_bindings.probe._probe_report import Report, Result


def html_of(report: Report) -> str:
    """Return the report as an HTML page."""
    template = files("acp_bindings.probe").joinpath("page.html").read_text(encoding="utf-8")
    page: str = (
        page_environment()
        .from_string(template)
        .render(
            report=report,
            source=report.target,
            program="acp-bindings probe",
            when=report.when,
            counts={kind: report.count(status) for status, kind in _KINDS.items()},
            kinds=_KINDS,
            problems=[each for each in report.results if each.status in ("fail", "warn")],
            families=[(family, [*of]) for family, of in groupby(report.results, key=_family)],
            version=version(),
        )
    )
    return f"{page}\n"


_KINDS: dict[Status, str] = {"fail": "failed", "warn": "warned", "ok": "works", "skip": "unsettled"}
"""The classes of `page.css` for each status."""


def _family(result: Result) -> str:
    return result.check.id.partition(".")[0]

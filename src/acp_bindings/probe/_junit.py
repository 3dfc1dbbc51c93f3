"""Writes a report as JUnit XML for CI systems, with a test case for each check."""

from __future__ import annotations

from xml.etree.ElementTree import SubElement

from acp_bindings._reports import JUnit, fit
from acp_bindings.probe._probe_report import Report, lines_of


def junit_of(report: Report) -> str:
    """Return the report as JUnit XML."""
    junit = JUnit(
        "acp-bindings probe",
        report.target,
        tests=len(report.results),
        failures=report.count("fail"),
        skipped=report.count("skip"),
        seconds=report.seconds,
        when=report.when,
    )
    for each in report.results:
        family, _, name = each.check.id.partition(".")
        case = junit.case(name, f"acp-bindings.probe.{family}", seconds=each.seconds)
        text = fit("\n".join(lines_of(each)))
        if each.status == "fail":
            SubElement(case, "failure", type=each.check.id, message=fit(each.message)).text = text
        elif each.status == "skip":
            SubElement(case, "skipped", message=fit(each.message))
        elif each.status == "warn":
            SubElement(case, "system-out").text = text
    return junit.text()

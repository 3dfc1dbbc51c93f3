"""Writes a report as JUnit XML for CI systems, with a test case for each check."""

from __future__ import annotations

from datetime import UTC
from io import StringIO
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from acp_bindings._reports.text import fit
from acp_bindings.probe._report import Report, lines_of


def junit_of(report: Report) -> str:
    """Return the report as JUnit XML, in the format of junit-10.xsd of Jenkins' xUnit plugin."""
    counts = {
        "tests": str(len(report.results)),
        "failures": str(report.count("fail")),
        "errors": "0",
        "time": f"{report.seconds:.3f}",
    }
    root = Element("testsuites", {"name": "acp-bindings probe", **counts})
    more = {
        "skipped": str(report.count("skip")),
        "timestamp": report.when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    }
    suite = SubElement(root, "testsuite", {"name": fit(report.target), **counts, **more})
    for each in report.results:
        family, _, name = each.check.id.partition(".")
        case = SubElement(
            suite, "testcase", name=name, classname=f"acp-bindings.probe.{family}", time=f"{each.seconds:.3f}"
        )
        text = fit("\n".join(lines_of(each)))
        if each.status == "fail":
            SubElement(case, "failure", type=each.check.id, message=fit(each.message)).text = text
        elif each.status == "skip":
            SubElement(case, "skipped", message=fit(each.message))
        elif each.status == "warn":
            SubElement(case, "system-out").text = text
    indent(root)
    file = StringIO()
    ElementTree(root).write(file, encoding="unicode", xml_declaration=True)
    return f"{file.getvalue()}\n"

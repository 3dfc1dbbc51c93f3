"""Writes a report into files, as JUnit XML or HTML."""

from __future__ import annotations

from datetime import datetime
from io import StringIO

from acp_bindings._atomic_write import atomic_write
from mcp_launch.failures import UnusableInput
from mcp_launch.report import CheckReport


def write_files(
    found: CheckReport, *, junit: str | None, html: str | None, source: str, when: datetime, strict: bool
) -> None:
    """Write the report on the servers of *source* as JUnit XML, as HTML, or both.

    With *strict*, a server with a warning counts as failed.
    """
    errors: list[str] = []
    for path, form in ((junit, "junit"), (html, "html")):
        if path is not None:
            try:
                _write(found, path, form=form, source=source, when=when, strict=strict)
            except OSError as error:
                errors.append(f"{path}: {error.strerror}")
    if errors:
        raise UnusableInput("; ".join(errors))


def _write(found: CheckReport, path: str, *, form: str, source: str, when: datetime, strict: bool) -> None:
    # Imported only if needed.
    if form == "junit":
        from mcp_launch._command.show.junit import write  # noqa: PLC0415
    else:
        from mcp_launch._command.show.html import write  # noqa: PLC0415
    text = StringIO()
    write(found, text, source=source, when=when, strict=strict)
    atomic_write(path, text.getvalue().encode())

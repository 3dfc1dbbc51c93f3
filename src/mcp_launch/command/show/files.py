"""Writes a report into the files that the user named: as JUnit XML, as HTML, or both."""

from __future__ import annotations

from datetime import datetime

from mcp_launch.failures import UnusableInput
from mcp_launch.shapes import CheckReport

__all__ = ["write_files"]


def write_files(
    found: CheckReport, *, junit: str | None, html: str | None, source: str, when: datetime, strict: bool
) -> None:
    """Write the report as JUnit XML, as a page, or both; `source` is where the servers come from.

    With `strict` a server that has a warning counts as failed.

    Raises:
        UnusableInput: a file cannot be written; the other one was written all the same.
    """
    troubles: list[str] = []
    for path, form in ((junit, "junit"), (html, "html")):
        if path is not None:
            try:
                _write(found, path, form=form, source=source, when=when, strict=strict)
            except OSError as error:
                troubles.append(f"{path}: {error.strerror}")
    if troubles:
        raise UnusableInput("; ".join(troubles))


def _write(found: CheckReport, path: str, *, form: str, source: str, when: datetime, strict: bool) -> None:
    # What they need is imported only by those who ask for it.
    if form == "junit":
        from mcp_launch.command.show.junit import write  # noqa: PLC0415
    else:
        from mcp_launch.command.show.html import write  # noqa: PLC0415
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        write(found, file, source=source, when=when, strict=strict)

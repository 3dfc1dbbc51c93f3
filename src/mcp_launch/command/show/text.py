"""Writes lines to standard output and standard error, with colours on a terminal, and makes text safe to show."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Generator
from typing import TextIO, TypeAlias

from acp_bindings._cli import discard_unwritable, shown_on
from mcp_launch.failures import UnusableInput

__all__ = ["Styled", "complain", "harmless", "printable", "remark", "write", "write_file", "write_json"]

Styled: TypeAlias = tuple[str, str]
"""A text and its style, as rich calls it."""

_writing = threading.Lock()
"""Threads write what servers say on standard error; this keeps each line whole."""


def printable(text: str) -> str:
    """The text without characters that could move the cursor or recolour the terminal: it may come from a server."""
    return "".join(char if char.isprintable() else " " for char in text)


def harmless(text: str) -> str:
    """The same for a text of several lines; line ends and tabs are kept."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.splitlines())


def write(*parts: str | Styled) -> None:
    """Write a line to standard output, its parts with a space between them.

    Raises:
        UnusableInput: it cannot be written, for another reason than that nobody reads it any more.
    """
    with _checked():
        _write(sys.stdout, parts)


def write_json(document: object) -> None:
    """Write a JSON document to standard output, as it is.

    Raises:
        UnusableInput: it cannot be written, for another reason than that nobody reads it any more.
    """
    with _checked(), _writing:
        sys.stdout.write(f"{json.dumps(document, indent=2)}\n")
        sys.stdout.flush()


def write_file(text: str) -> None:
    """Write the text of a file to standard output, as it is: programs read UTF-8, whatever the terminal shows.

    Raises:
        UnusableInput: it cannot be written, for another reason than that nobody reads it any more.
    """
    with _checked():
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()


def remark(*parts: str | Styled) -> None:
    """Write a line to standard error; an error is ignored, since the exit status still tells."""
    with contextlib.suppress(OSError):
        _write(sys.stderr, parts)


def complain(message: str) -> None:
    """Say on standard error why the command cannot do what it was asked for."""
    remark(f"mcp-launch: {printable(message)}")


@contextlib.contextmanager
def _checked() -> Generator[None]:
    """A block that writes to standard output, and whose errors become UnusableInput."""
    try:
        yield
    except BrokenPipeError:
        # The reader has closed the pipe. typer ends the command quietly then.
        raise
    except OSError as error:
        discard_unwritable(sys.stdout)
        raise UnusableInput(f"standard output: {error.strerror}") from None


def _write(stream: TextIO, parts: tuple[str | Styled, ...]) -> None:
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    # Here, through which all goes that servers and files say.
    styled = [(shown_on(stream, text), style) for text, style in pairs]
    with _writing:
        _write_line(stream, styled)


def _write_line(stream: TextIO, styled: list[Styled]) -> None:
    if stream.isatty() or os.environ.get("FORCE_COLOR"):
        # Imported late: it takes as long as the start of a server, and what goes into a pipe needs none of it.
        from rich.console import Console  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        console = Console(file=stream, highlight=False, soft_wrap=True)
        console.print(*(Text(text, style) for text, style in styled))
    else:
        print(*(text for text, _ in styled), file=stream)
    stream.flush()

"""Reads a config from a file or from standard input."""

from __future__ import annotations

import os
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE

from mcp_launch.command.inputs.given import is_like_a_url, is_program, source_of
from mcp_launch.config.entries import Config
from mcp_launch.config.read import read_config
from mcp_launch.failures import UnusableInput

__all__ = ["LONGEST", "read_file", "text_of"]

LONGEST = 16 * 2**20
"""Bytes of a config file that are read at most. The largest are those of clients that keep other things there too."""


def read_file(given: str, *, format: str | None = None, workspace: str | None = None) -> Config:  # noqa: A002
    """The config in a file, or on standard input if that is `-`; a workspace may be relative.

    Raises:
        UnusableInput: it cannot be read, or holds no list of servers.
    """
    source = source_of(given)
    text = text_of(given, source=source, longest=LONGEST)
    directory = None if workspace is None else os.path.abspath(workspace)
    try:
        return read_config(text, source=source, format=format, workspace=directory)
    except UnusableInput as error:
        if text.startswith("#!") or given.lower().endswith(_SCRIPTS):
            raise UnusableInput(f"{error}{_BEHIND}") from None
        raise


def text_of(file: str, *, source: str, longest: int = -1) -> str:
    """Return the text of a file, or of standard input if that is `-`; `source` is what messages call it.

    Raises:
        UnusableInput: it cannot be read, is not UTF-8, or has more than `longest` bytes, if that is not negative.
    """
    size = longest + 1 if longest >= 0 else -1
    # Standard input is None when whoever started us has closed it.
    if file == "-" and sys.stdin is None:
        raise UnusableInput("standard input: is closed")
    try:
        if file == "-":
            data = sys.stdin.buffer.read(size)
        else:
            with open(file, "rb") as opened:
                data = opened.read(size)
        if len(data) > longest >= 0:
            raise UnusableInput(f"{source}: is larger than {longest >> 20} MB; is it a config file?")
        return data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UnusableInput(f"{source}: {error.strerror}{_instead(file)}") from None
    except OSError as error:
        raise UnusableInput(f"{source}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{source}: not UTF-8 at byte {error.start}{_other_bytes(file, error.object)}") from None
    except ValueError:
        raise UnusableInput(f"{source}: is no name that a file can have") from None


_BEHIND = "; is it a command? Those stand behind --"
_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh")


def _other_bytes(file: str, data: bytes) -> str:
    """What a file most likely is that is no UTF-8."""
    # As PowerShell and Notepad write it.
    if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        return "; is it UTF-16? Save it as UTF-8"
    return _BEHIND if os.access(file, os.X_OK) else ""


def _instead(file: str) -> str:
    """What the name of a file that does not exist was most likely meant to be."""
    if is_like_a_url(file):
        return "; is it a URL? Those begin with http:// or https://"
    return _BEHIND if is_program(file) else ""

"""The text of a file or of standard input, and the servers that are in it."""

from __future__ import annotations

import os
import shutil
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE

from mcp_launch.command.inputs.given import is_like_a_url, source_of
from mcp_launch.config.entries import Config
from mcp_launch.config.read import read_config
from mcp_launch.failures import UnusableInput

__all__ = ["read_file", "text_of"]


def read_file(given: str, *, format: str | None = None, workspace: str | None = None) -> Config:  # noqa: A002
    """What stands in a file, or in standard input if that is `-`; a workspace may be relative.

    Raises:
        UnusableInput: it cannot be read, or holds no list of servers.
    """
    source = source_of(given)
    text = text_of(given, source=source)
    return read_config(
        text, source=source, format=format, workspace=None if workspace is None else os.path.abspath(workspace)
    )


def text_of(file: str, *, source: str) -> str:
    """What stands in a file, or comes from standard input if that is `-`.

    Raises:
        UnusableInput: it cannot be read, or is no text.
    """
    # Standard input is None when whoever started us has closed it.
    if file == "-" and sys.stdin is None:
        raise UnusableInput("standard input: is closed")
    try:
        if file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as opened:
                data = opened.read()
        return data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UnusableInput(f"{source}: {error.strerror}{_instead(file)}") from None
    except OSError as error:
        raise UnusableInput(f"{source}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        # As PowerShell and Notepad write it.
        other = "; is it UTF-16? Save it as UTF-8" if error.object[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else ""
        raise UnusableInput(f"{source}: not UTF-8 at byte {error.start}{other}") from None
    except ValueError:
        raise UnusableInput(f"{source}: is no name that a file can have") from None


def _instead(file: str) -> str:
    """What a name of no file was most likely meant to be."""
    if is_like_a_url(file):
        return "; is it a URL? Those begin with http:// or https://"
    is_program = not os.path.dirname(file) and shutil.which(file) is not None
    return "; is it a command? Those stand behind --" if is_program else ""

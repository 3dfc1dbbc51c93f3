"""Writes what a server answered: text to standard output, and other data into files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from mcp_launch.command.explore.contents import Piece, save_piece
from mcp_launch.command.explore.opened import Opened
from mcp_launch.command.show.text import harmless, remark, write
from mcp_launch.failures import UnusableInput

__all__ = ["save_pieces", "with_structured", "write_pieces"]


def write_pieces(opened: Opened, pieces: Sequence[Piece], *, stem: str, save: str | None, failed: bool = False) -> None:
    """Write texts to standard output, those of an error to standard error, and data into files.

    With *save*, texts that have a name, such as those of resources, go into files in that folder too. Data is saved in
    any case, without *save* in the current directory: it may not be possible or cheap to call the tool again.

    Raises:
        UnusableInput: something cannot be written.
    """
    for piece in pieces:
        if piece.data is not None or (save is not None and piece.name is not None):
            save_pieces(opened, [piece], stem=stem, folder=save or os.curdir)
            continue
        text = opened.hide_result(piece.text or "")
        if failed:
            remark(harmless(text))
        else:
            write(harmless(text) if sys.stdout and sys.stdout.isatty() else text.removesuffix("\n"))


def save_pieces(opened: Opened, pieces: Sequence[Piece], *, stem: str, folder: str) -> list[str]:
    """Save data and texts that have a name, byte for byte as the server sent them; say where, and return the paths.

    Raises:
        UnusableInput: a file cannot be written.
    """
    paths: list[str] = []
    for piece in pieces:
        if piece.data is None and piece.name is None:
            continue
        try:
            path = save_piece(piece, Path(folder), stem=stem, name=opened.hide(piece.name or ""))
        except OSError as error:
            raise UnusableInput(f"{folder}: {error.strerror}") from None
        paths.append(str(path))
        remark(f"saved {path}{f' ({harmless(opened.hide(piece.about))})' if piece.about else ''}")
    return paths


def with_structured(pieces: Sequence[Piece], structured: object) -> list[Piece]:
    """The pieces, and the structured result unless they say the same, as with most servers they do."""
    if structured is None or _is_said(structured, [piece.text for piece in pieces if piece.text is not None]):
        return list(pieces)
    return [*pieces, Piece(text=json.dumps(structured, indent=2, ensure_ascii=False))]


def _is_said(structured: object, texts: Sequence[str]) -> bool:
    values = [_value(text) for text in texts]
    wanted = [structured]
    if isinstance(structured, dict) and list(cast("dict[str, Any]", structured)) == ["result"]:
        # The SDKs wrap a result that is no object in this way.
        wanted.append(cast("dict[str, Any]", structured)["result"])
    return any(each in values or each in texts or each == values or each == list(texts) for each in wanted)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

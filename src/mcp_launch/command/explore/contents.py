"""Splits the content of an answer into text to show and data to save; nothing binary ever reaches a terminal."""

from __future__ import annotations

import base64
import json
import mimetypes
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Piece", "pieces_of", "save_piece"]

_LONGEST = 80
"""Characters of a file's name that are taken from a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One part of an answer: a text, or bytes that are none."""

    text: str | None = None
    data: bytes | None = None
    media_type: str | None = None
    name: str | None = None
    """What the server calls it: of a resource, the last part of its URI."""
    about: str = ""
    """What to say of data, which cannot be shown."""


def pieces_of(blocks: Iterable[BaseModel | dict[str, Any]]) -> Iterator[Piece]:
    """The parts of MCP content: of the blocks of a result or a prompt, or of the contents of a resource."""
    for block in blocks:
        raw = block if isinstance(block, dict) else block.model_dump(mode="json", by_alias=True, exclude_none=True)
        yield _piece(raw)


def save_piece(piece: Piece, folder: Path, *, stem: str, name: str = "") -> Path:
    """Write a piece into a file of that folder, never over one that is there; its path.

    The name of the file is the stem, a number, and `name` without characters that could do harm.

    Raises:
        OSError: the folder cannot be made, or the file not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = (piece.text or "").encode() if piece.data is None else piece.data
    for number in count(1):
        path = folder / _file_name(stem, number, name, piece)
        try:
            # Mode "x" also fails for a link that leads elsewhere.
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("numbers do not end")


def _piece(raw: dict[str, Any]) -> Piece:
    match raw:
        case {"type": "text", "text": str(text)}:
            return Piece(text=text)
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return _binary(data, media_type=raw.get("mimeType"), about=kind)
        case {"type": "resource", "resource": {"uri": str()}}:
            return _resource(raw["resource"])
        case {"type": "resource_link", "uri": str(uri)}:
            return Piece(text=" ".join(_texts(raw.get("title") or raw.get("name"), f"<{uri}>", raw.get("mimeType"))))
        case {"uri": str()}:
            return _resource(raw)
        case _:
            return Piece(text=json.dumps(raw, ensure_ascii=False))


def _resource(raw: dict[str, Any]) -> Piece:
    uri, media_type = str(raw.get("uri", "")), raw.get("mimeType")
    name = _last_part(uri)
    if isinstance(text := raw.get("text"), str):
        return Piece(text=text, media_type=media_type, name=name)
    return _binary(str(raw.get("blob", "")), media_type=media_type, about=f"resource {uri}", name=name)


def _last_part(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return parts.path.rstrip("/").rpartition("/")[2] or parts.netloc


def _binary(coded: str, *, media_type: object, about: str, name: str | None = None) -> Piece:
    kind = media_type if isinstance(media_type, str) else None
    try:
        data = base64.b64decode(coded, validate=True)
    except ValueError:
        return Piece(text=f"[{about}: its data is not base64]")
    said = ", ".join(_texts(about, kind, _size(len(data))))
    return Piece(data=data, media_type=kind, name=name, about=said)


def _file_name(stem: str, number: int, name: str, piece: Piece) -> str:
    given = _safe(name)
    suffix = ""
    if not re.search(r"\.[A-Za-z0-9]{1,5}$", given):
        guessed = mimetypes.guess_extension((piece.media_type or "").partition(";")[0].strip())
        suffix = guessed or (".txt" if piece.data is None else ".bin")
        given += suffix if given else ""
    return f"{_safe(stem) or 'result'}-{number}{f'-{given}' if given else suffix}"


def _safe(name: str) -> str:
    """A name that a server wrote without separators, leading dots and characters with a meaning in a shell."""
    return re.sub(r"([^A-Za-z0-9._-]|\.{2,})+", "_", name).strip("._-")[-_LONGEST:]


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1000 else f"{count / 1000:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def _texts(*parts: object) -> list[str]:
    return [part for part in parts if isinstance(part, str) and part]

"""What a file holds: one JSON document, or a message on each line, which may be very many."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from pydantic_core import from_json

from acp_bindings.check.speakers import Line, unwrap


class Document(NamedTuple):
    """One JSON value, over however many lines."""

    text: bytes
    value: Any


Numbered: TypeAlias = tuple[int, Line]
"""A line and its number, from 1."""


class Unusable(Exception):  # noqa: N818 - says what it is, which a suffix would not
    """The input cannot be used, for the reason that it is made with."""


def read_input(raw: Iterable[bytes]) -> Document | Iterator[Numbered]:
    """What the lines of a file are: a document, or the lines of a conversation, which are read as they are asked for.

    It is a document when it has but one line that is not empty; or when its first line is no JSON, but the beginning of
    some, and the whole file is. A byte order mark in front is left out, and so are empty lines.

    Raises:
        Unusable: it is empty, or of an encoding other than UTF-8.
    """
    lines = iter(enumerate(_without_mark(raw), start=1))
    first = next(_filled(lines), None)
    if first is None:
        raise Unusable("it is empty")
    if _is_cut_short(first[1]):
        kept = [first, *lines]
        text = b"\n" * (first[0] - 1) + b"".join(line for _, line in kept)
        try:
            return Document(text, from_json(text))
        except ValueError as error:
            if not any(_is_object(line) for _, line in kept[1:]):
                raise Unusable(f"it is no JSON: {error}") from None
            return _numbered(kept)
    second = next(_filled(lines), None)
    if second is None:
        text = b"\n" * (first[0] - 1) + first[1]
        try:
            return Document(text, from_json(text))
        except ValueError as error:
            raise Unusable(f"it is no JSON: {error}") from None
    return _numbered(chain((first, second), lines))


def _filled(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    return (each for each in lines if each[1].strip())


def _numbered(lines: Iterable[tuple[int, bytes]]) -> Iterator[Numbered]:
    for number, line in _filled(lines):
        yield number, line_of(line)


def line_of(text: bytes) -> Line:
    """The message on a line."""
    try:
        return unwrap(text, from_json(text))
    except ValueError:
        return Line(text, None, None, ())


def _without_mark(raw: Iterable[bytes]) -> Iterator[bytes]:
    for index, line in enumerate(raw):
        if index == 0:
            if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise Unusable("it is UTF-16; write it as UTF-8")
            yield line.removeprefix(codecs.BOM_UTF8)
        else:
            yield line


def _is_cut_short(line: bytes) -> bool:
    try:
        from_json(line)
    except ValueError as error:
        return str(error).startswith("EOF")
    return False


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(from_json(line), dict)
    except ValueError:
        return False

"""Reads YAML with line numbers. Imported only for YAML files, because its library is slow to import."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from mcp_launch.config._documents import DEEPEST, Document, Place, place_in, unusable

LONGEST = 2**20
"""The maximum length of a document; the library parses a tenth of that in a second."""
MOST_NODES = 20_000
"""The maximum number of values in a document, counted again for each alias."""


def read_yaml(text: str, *, source: str) -> Document:
    """Parse a text.

    Raises:
        UnusableInput: it is not valid; the message contains the position.
    """
    if len(text) > LONGEST:
        raise unusable(source, Place(1, 1), f"is larger than {LONGEST >> 20} MB, the limit for YAML")
    reader: Any = YAML(typ="safe", pure=True)
    try:
        # Its warnings quote the text, which may contain secrets.
        with warnings.catch_warnings(action="ignore"):
            root: Any = reader.compose(text)
            if root is None:
                raise unusable(source, Place(1, 1), "is empty")
            return _Yaml(_value(root, source, reader.constructor.construct_object, iter(range(MOST_NODES))), root, text)
    except MarkedYAMLError as raised:
        error: Any = raised
        what = " ".join(str(error.problem or error.context or "cannot be read").split())
        # The rest may be a secret: a password may begin with a special character of YAML.
        what = re.sub(r"\b(alias|anchor|handle|tag)\b.*", r"\1", what)
        mark: Any = error.problem_mark or error.context_mark
        place = Place(1, 1) if mark is None else Place(mark.line + 1, mark.column + 1)
        raise unusable(source, place, f"not YAML: {what}") from None
    except ReaderError as raised:
        at = int(cast("Any", raised).position)
        raise unusable(source, place_in(text, at), "not YAML: contains a character that is not allowed") from None
    except RecursionError:
        raise unusable(source, Place(1, 1), f"nested too deeply: more than {DEEPEST} levels") from None
    except (YAMLError, ValueError, LookupError, OverflowError, TypeError, AttributeError):
        raise unusable(source, Place(1, 1), "not YAML: cannot be read") from None


class _Yaml(Document):
    """A document whose nodes are those of ruamel.yaml."""

    def start_of(self, node: Any) -> int:
        return int(node.start_mark.index)

    def members_of(self, node: Any) -> Iterator[tuple[str | int, Any, Any]]:
        if node.id == "mapping":
            for key, value in node.value:
                yield key.value, key, value
        elif node.id == "sequence":
            for index, item in enumerate(node.value):
                yield index, item, item

    def span_of(self, node: Any) -> tuple[int, int]:
        return self.start_of(node), _end_of(node)


def _end_of(node: Any) -> int:
    """Return the end of a node without the space and comments after it, which the library counts as part of it."""
    if node.id == "scalar" or node.flow_style:
        return int(node.end_mark.index)
    key, value = node.value[-1] if node.id == "mapping" else (node.value[-1], node.value[-1])
    # The value of `name:` begins and ends at the next name.
    is_empty = value.start_mark.index == value.end_mark.index
    return int(key.end_mark.index) + 1 if is_empty else _end_of(value)


def _value(node: Any, source: str, scalar: Callable[[Any], Any], budget: Iterator[int], depth: int = 0) -> Any:
    if next(budget, None) is None:
        raise unusable(source, _mark(node), "its aliases make it too large")
    if depth > DEEPEST:
        raise unusable(source, _mark(node), f"nested too deeply: more than {DEEPEST} levels")
    if node.id == "scalar":
        return _plain(node, scalar)
    if node.id == "sequence":
        return [_value(item, source, scalar, budget, depth + 1) for item in node.value]
    members: dict[str, Any] = {}
    for key, value in node.value:
        if key.id != "scalar":
            raise unusable(source, _mark(key), "a name must be a string")
        if key.value in members:
            raise unusable(source, _mark(key), f"the name {key.value!r} occurs twice in one object")
        members[key.value] = _value(value, source, scalar, budget, depth + 1)
    return members


def _plain(node: Any, scalar: Callable[[Any], Any]) -> Any:
    try:
        value = scalar(node)
    except Exception:  # noqa: BLE001 - an unknown tag, or an invalid date or number: use its text
        value = node.value
    # JSON has no dates, bytes, or numbers such as NaN: use their text.
    is_json = isinstance(value, str | int | None) or (isinstance(value, float) and isfinite(value))
    return value if is_json else node.value


def _mark(node: Any) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)

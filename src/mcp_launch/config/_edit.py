"""Changes values in the text of a config file. Comments, order, indentation and line endings stay as they are."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from mcp_launch._json_values import as_items
from mcp_launch.config._documents import Document, Grammar, Path, unusable, without_comments
from mcp_launch.config._read import read_document, recognized
from mcp_launch.failures import UnusableInput

_Span: TypeAlias = tuple[int, int]
"""The index at which something begins in a text, and that at which it ends."""


class Edit(NamedTuple):
    """One change of a document: sets, renames or removes a member of an object or an item of an array."""

    path: Path
    """The names and indices from the root to the value."""
    value: Any = None
    """The new value; for `rename`, the new name."""
    action: Literal["set", "rename", "remove"] = "set"
    after: str | None = None
    """The member after which a new member is written; by default the last."""


def edit_config(text: str, edits: Iterable[Edit], *, source: str, format: str | None = None) -> str:  # noqa: A002
    """Return the text of a config file with these edits, which only change the parts that they name.

    Args:
        text: the content of the file, with its line endings.
        edits: the changes, in order; paths are those of the text after the previous edits.
        source: its path, or another name for error messages.
        format: the name of its format. By default, the path and the content determine it.

    Raises:
        UnusableInput: the file is invalid, or an edit cannot be made without changing other parts of it.
    """
    _, known, _ = recognized(text, format, source=source)
    return edit_text(text, edits, source=source, grammar=known.grammar)


def edit_text(text: str, edits: Iterable[Edit], *, source: str, grammar: Grammar) -> str:
    """Return a text with these edits; like `edit_config` for a known grammar."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text[len(mark) :]
    for edit in edits:
        document = read_document(text, source=source, grammar=grammar)
        try:
            wanted = _applied(document.value, edit)
            if grammar == "toml":
                text = _edited_toml(text, edit, document)
            else:
                for step in _steps(document, edit):
                    change = _Yaml if grammar == "yaml" else _Json
                    text = change(text, read_document(text, source=source, grammar=grammar)).changed(step)
            is_exact = read_document(text, source=source, grammar=grammar).value == wanted
        except (LookupError, TypeError, UnusableInput):
            is_exact = False
        # An anchor, a merge key or an unusual layout: better no change than another one.
        if not is_exact:
            raise unusable(source, document.key_place(edit.path), "cannot be edited without changing other parts")
    return mark + text


def _applied(value: Any, edit: Edit) -> Any:
    """Return a copy of the document's value with the edit."""
    copied: Any = copy.deepcopy(value)
    holder: Any = copied
    *steps, last = edit.path
    for step in steps:
        holder = holder[step]
    match edit.action:
        case "set":
            holder[last] = edit.value
        case "remove":
            del holder[last]
        case "rename":
            if edit.value in holder:
                raise LookupError(edit.value)
            holder[edit.value] = holder.pop(last)
    return copied


def _edited_toml(text: str, edit: Edit, document: Document) -> str:
    """Return TOML with the edit. tomlkit preserves comments and layout."""
    import tomlkit  # noqa: PLC0415 - slow to import, and most files are JSON

    from mcp_launch.config._toml import KEY  # noqa: PLC0415 - most files are JSON

    *steps, last = edit.path
    if edit.action == "rename":
        # tomlkit would move the member to the end. `edit_text` notices if the name is also in other lines.
        names = {name: key for name, key, _ in document.members_of(document.node(tuple(steps)))}
        at = document.start_of(names[last])
        return text[:at] + re.sub(KEY, edit.value, text[at:], count=1)
    newline = "\r\n" if "\r\n" in text else "\n"
    written: Any = tomlkit.parse(text.replace("\r\n", "\n"))
    holder: Any = written
    for name in steps:
        holder = holder[name]
    old, new = holder.get(last), edit.value
    if edit.action == "remove":
        del holder[last]
    elif isinstance(old, list) and isinstance(new, list):
        array: Any = holder[last]
        for step in _list_steps(edit.path, as_items(array), as_items(edit.value)):
            match step.action:
                case "insert":
                    array.insert(step.number, step.value)
                case "remove":
                    del array[step.number]
                case _:
                    array[step.number] = step.value
    else:
        holder[last] = edit.value
    return tomlkit.dumps(written).replace("\n", newline)


class _Step(NamedTuple):
    """One change that is made at one position of the text."""

    action: Literal["replace", "insert", "remove", "rename"]
    holder: Path
    number: int
    """The number of the member or item in its holder, from 0."""
    value: Any = None
    name: str | None = None
    """The name of a new member."""


def _steps(document: Document, edit: Edit) -> Iterator[_Step]:
    *holder, last = edit.path
    at = tuple(holder)
    names = [name for name, _, _ in document.members_of(document.node(at))]
    if edit.action != "set":
        yield _Step(edit.action, at, names.index(last), edit.value)
        return
    if last not in names:
        index = names.index(edit.after) + 1 if edit.after in names else len(names)
        yield _Step("insert", at, index, edit.value, str(last))
        return
    old: Any = document.value
    for step in edit.path:
        old = old[step]
    if (before := as_items(old)) and (after := as_items(edit.value)):
        yield from _list_steps(edit.path, before, after)
    else:
        yield _Step("replace", at, names.index(last), edit.value)


def _list_steps(path: Path, old: Sequence[Any], new: Sequence[Any]) -> Iterator[_Step]:
    """Yield the changes of the items between the first and the last that differ."""
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    kept = min(len(old), len(new)) - start - end
    for index in range(start, start + kept):
        yield _Step("replace", path, index, new[index])
    for index in range(start + kept, len(new) - end):
        yield _Step("insert", path, index, new[index])
    for index in reversed(range(start + kept, len(old) - end)):
        yield _Step("remove", path, index)


class _Grammar:
    """A text and its document. Subclasses know where names and values are, and how they are written."""

    def __init__(self, text: str, document: Document) -> None:
        self.text = text
        self.document = document
        self.plain = text
        """The text without comments, of the same length."""
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def changed(self, step: _Step) -> str:
        """Return the text with this change."""
        holder = self.document.node(step.holder)
        names: list[_Span] = []
        values: list[_Span] = []
        for _, name, value in self.document.members_of(holder):
            names.append(self.document.span_of(name))
            start, end = self.document.span_of(value)
            # In YAML, the missing value of `name:` begins at the next name.
            values.append((start, end) if start < end else (names[-1][1] + 1, names[-1][1] + 1))
        spans = [(start, end) for (start, _), (_, end) in zip(names, values, strict=True)]
        match step.action:
            case "replace":
                start, end = old = values[step.number]
                return self._put(old, f"{'' if start < end else ' '}{self.written(step.value, old)}")
            case "rename":
                return self._put(names[step.number], self.written(step.value, names[step.number]))
            case "insert":
                written = self.written(step.value, None)
                piece = written if step.name is None else f"{self.written(step.name, None)}: {written}"
                return self.inserted(holder, spans, step.number, piece)
            case "remove":
                return self.removed(holder, spans, step.number)

    def written(self, value: Any, old: _Span | None) -> str:
        """Return a value in this grammar, in the style of the old one."""
        raise NotImplementedError

    def inserted(self, holder: Any, spans: list[_Span], index: int, piece: str) -> str:
        """Return the text with a new member or item in brackets."""
        start, end = self.document.span_of(holder)
        if not spans:
            line = self._rest_of_line(start + 1)
            inner = f"{self.newline}{self._indent(start)}  {piece}"
            return self._put((line, line), inner) if line < end - 1 else self._put((start + 1, start + 1), piece)
        is_tall = "\n" in self.plain[start : spans[0][0]]
        between = f"{self.newline}{self._indent(spans[0][0])}" if is_tall else " "
        if index == 0:
            return self._put((spans[0][0], spans[0][0]), f"{piece},{between}")
        at = spans[index - 1][1]
        limit = spans[index][0] if index < len(spans) else end - 1
        comma = self.plain.find(",", at, limit)
        target = at if comma < 0 else comma + 1
        if is_tall and (line := self._rest_of_line(target)) <= limit:
            target = line
        # The comma after the new one keeps the style of the old one, which may be a trailing comma.
        text = self._put(
            (target, target), f"{between}{piece}{',' if comma >= 0 and (is_tall or limit < end - 1) else ''}"
        )
        return text if comma >= 0 else f"{text[:at]},{text[at:]}"

    def removed(self, holder: Any, spans: list[_Span], index: int) -> str:
        """Return the text without a member or item in brackets, and without its line if that is empty then."""
        _, close = self.document.span_of(holder)
        start, end = spans[index]
        limit = spans[index + 1][0] if index + 1 < len(spans) else close - 1
        comma = self.plain.find(",", end, limit)
        text = self.text
        if comma >= 0:
            end = comma + 1
        elif index:
            before = self.plain.index(",", spans[index - 1][1], start)
            text = f"{text[:before]}{text[before + 1 :]}"
            start, end = start - 1, end - 1
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        if last >= 0 and not text[first:start].strip() and not text[end:last].strip():
            return text[:first] + text[last + 1 :]
        if index + 1 == len(spans) and text[first:start].strip():
            return text[:start].rstrip(" ") + text[end:]
        return text[:start] + (text[end:] if index + 1 == len(spans) else text[end:].lstrip(" "))

    def _put(self, span: _Span, piece: str) -> str:
        return self.text[: span[0]] + piece + self.text[span[1] :]

    def _indent(self, at: int) -> str:
        """Return the white space at the beginning of the line."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]

    def _rest_of_line(self, at: int) -> int:
        """Return the end of the line if only space and comments follow on it, otherwise *at*."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        rest = self.text[at:end]
        is_inside = rest.rfind("/*") > rest.rfind("*/")
        return at if self.plain[at:end].strip() or is_inside else end - rest.endswith("\r")


class _Json(_Grammar):
    """JSON, with or without comments."""

    def __init__(self, text: str, document: Document) -> None:
        super().__init__(text, document)
        self.plain = without_comments(text, source="")

    def written(self, value: Any, old: _Span | None) -> str:
        if old is None or "\n" not in self.text[old[0] : old[1]]:
            return json.dumps(value, ensure_ascii=False)
        text = json.dumps(value, ensure_ascii=False, indent=2)
        return text.replace("\n", self.newline + self._indent(old[0]))


class _Yaml(_Grammar):
    """YAML, whose collections are in brackets or are lines with the same indentation."""

    def written(self, value: Any, old: _Span | None) -> str:
        if not isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        quote = self.text[old[0]] if old and old[0] < old[1] else ""
        if quote == "'" and value.isprintable():
            return f"""'{value.replace("'", "''")}'"""
        is_plain = re.fullmatch(r"[A-Za-z/.](?:[\w/@.+=:-]*[\w/@.+=-])?", value) and value.lower() not in _WORDS
        # A JSON string is a valid string of YAML.
        return value if is_plain and quote != '"' else json.dumps(value, ensure_ascii=False)

    def inserted(self, holder: Any, spans: list[_Span], index: int, piece: str) -> str:
        if holder.flow_style or not spans:
            return super().inserted(holder, spans, index, piece)
        column = " " * holder.start_mark.column
        piece = f"- {piece}" if holder.id == "sequence" else piece
        if index == 0:
            at = self.text.rfind("-", 0, spans[0][0]) if holder.id == "sequence" else spans[0][0]
            return self._put((at, at), f"{piece}{self.newline}{column}")
        at = self._end_of_line(spans[index - 1][1])
        at -= self.text[:at].endswith("\r")
        return self._put((at, at), f"{self.newline}{column}{piece}")

    def removed(self, holder: Any, spans: list[_Span], index: int) -> str:
        if holder.flow_style:
            return super().removed(holder, spans, index)
        start, end = spans[index]
        first = self.text.rfind("\n", 0, start) + 1
        if self.text[first:start].strip(" -"):
            raise LookupError(index)
        return self.text[:first] + self.text[self._end_of_line(end) + 1 :]

    def _end_of_line(self, end: int) -> int:
        # A string of several lines ends after its last line.
        at = self.text.find("\n", len(self.text[:end].rstrip()))
        return len(self.text) if at < 0 else at


_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n", ".inf", ".nan"))
"""Plain words that YAML reads as something else than a string, in one of its versions."""

"""Schema descriptions as docstrings: wrapped, escaped, and otherwise as the specification words them."""

from __future__ import annotations

import re
import textwrap

WIDTH = 120
_ITEM = re.compile(r"(?P<indent>\s*)([-*]|\d+\.) ")
_ROW = re.compile(r"[|>#]")
"""How a line begins that is a row of a table, a quotation or a heading, so that it cannot be joined with others."""
_CODE = re.compile(r"^([ \t]*```.*?^[ \t]*```)[ \t]*$", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"([.:]) (?=[A-Z`])")


def docstring(text: str | None, *, indent: int) -> str:
    """*text* as a docstring literal for code at *indent* spaces, empty when there is nothing to say."""
    if not text or not text.strip():
        return ""
    lines = _wrap(_with_summary(text.strip(), WIDTH - indent - 6), WIDTH - indent)
    escaped = [_escaped(line) for line in lines]
    if len(escaped) == 1 and len(escaped[0]) + indent + 6 <= WIDTH and not escaped[0].endswith('"'):
        return f'"""{escaped[0]}"""'
    margin = " " * indent
    body = "\n".join(f"{margin}{line}".rstrip() for line in escaped[1:])
    first = escaped[0]
    return f'"""{first}\n{body}\n{margin}"""' if body else f'"""{first}\n{margin}"""'


def _escaped(line: str) -> str:
    """*line* as it stands in a literal; what no editor shows, such as a mark that turns text around, is spelt out."""
    quoted = line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in quoted)


def _with_summary(text: str, room: int) -> str:
    """*text* with its first sentence on a line of its own, unless the first paragraph fits on one."""
    first, gap, rest = text.partition("\n\n")
    if "```" in first:
        return text
    first = " ".join(_blocks(first)) if not _ITEM.search(first) else first
    if len(first) > room and not _ITEM.match(first):
        first = _SENTENCE.sub(r"\1\n\n", first, count=1)
    if first[-1].isalnum() or first[-1] in "`)":
        first += "."
    return first + gap + rest


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for number, part in enumerate(_CODE.split(text)):
        is_code = number % 2 == 1
        for paragraph in [part.expandtabs(4)] if is_code else re.split(r"\n\s*\n", part.strip()):
            if lines and paragraph:
                lines.append("")
            lines += paragraph.splitlines() if is_code else _wrapped(paragraph, width, is_first=not lines)
    return lines


def _wrapped(paragraph: str, width: int, *, is_first: bool) -> list[str]:
    lines: list[str] = []
    for block in _blocks(paragraph):
        item = _ITEM.match(block)
        hang = f"{item['indent']}  " if item else ""
        room = width - 3 if is_first and not lines else width
        wrapped = textwrap.wrap(block, room, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
        lines += [block] if _ROW.match(block) else wrapped
    return lines


def _blocks(paragraph: str) -> list[str]:
    """The list items and rows of a paragraph each, its running text as one."""
    blocks: list[str] = []
    for line in paragraph.splitlines():
        stripped = line.strip()
        if _ITEM.match(line):
            blocks.append(line.rstrip())
        elif not blocks or stripped.startswith("See protocol docs") or _ROW.match(stripped) or _ROW.match(blocks[-1]):
            blocks.append(stripped)
        else:
            blocks[-1] = f"{blocks[-1]} {stripped}"
    return blocks

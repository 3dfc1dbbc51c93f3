"""An HTML page for tests, parsed by the standard library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["Element", "parse"]

_VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass(slots=True, eq=False)
class Element:
    """An element. `parts` contains its texts and elements in order."""

    tag: str
    attributes: dict[str, str]
    parts: list[Element | str] = field(default_factory=list["Element | str"])

    def all(self, *tags: str, **attributes: str) -> list[Element]:
        """Return the elements inside with these tags and attributes (`class_` for `class`)."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [each for each in self if (not tags or each.tag in tags) and wanted.items() <= each.attributes.items()]

    def one(self, *tags: str, **attributes: str) -> Element:
        """Return the only such element."""
        (found,) = self.all(*tags, **attributes)
        return found

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        """All of its text."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def words(self) -> str:
        """Its text as it reads where white space does not count."""
        return " ".join(self.text.split())

    def __iter__(self) -> Iterator[Element]:
        for part in self.parts:
            if not isinstance(part, str):
                yield part
                yield from part


def parse(html: str) -> Element:
    """Return the page. Every element must be closed in the right place."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    assert [each.tag for each in parser.open] == ["page"]
    return parser.open[0]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), tag
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].parts.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

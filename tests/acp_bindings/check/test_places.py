"""Findings have the line numbers of the values in the document."""

import json

import pytest

from acp_bindings.check._checking import Places

DOCUMENT = """
{
  "a" : [ 1,
          {"b": "}]",
           "c": null} ],
  "é\\"": {
  },
  "a": [
    [], 2
  ]
}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 2),
        (("a",), 8),
        (("a", 0), 9),
        (("a", 1), 9),
        (('é"',), 6),
        (('é"', "no"), 6),
        (("a", 7), 8),
        (("a", 1, "no"), 9),
        (("no",), 2),
    ],
)
def test_a_place_is_on_its_line(path: tuple[str | int, ...], line: int) -> None:
    json.loads(DOCUMENT)
    assert Places(DOCUMENT.encode()).line_of(path) == line


@pytest.mark.parametrize(("indent", "colon"), [(None, ":"), (None, ": "), (0, ":"), (2, ": ")])
def test_every_place_of_a_written_document_is_found(indent: int | None, colon: str) -> None:
    items = [{"n": n, "list": [{"x": n}]} for n in range(50)]
    text = json.dumps({"items": items}, indent=indent, separators=(",", colon))
    places = Places(text.encode())
    for n in range(50):
        line = places.line_of(("items", n, "list", 0, "x"))
        assert f'"x"{colon}{n}' in text.splitlines()[line - 1]

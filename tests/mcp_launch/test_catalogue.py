"""The catalogue gives every tool a unique, stable name that models accept."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest
from mcp_types import Tool

from mcp_launch import Catalogue, CatalogueEntry, LaunchError, UnknownTool, UnusableInput

ACCEPTED = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,59}")
NASTY = [
    *("", " ", "_", "__", "___", "-", ".", "a", "A", "1", "a_", "_a", "a__b", "a_b", "a-b", "a.b", "a b", "b", "b__c"),
    *("é", "e\u0301", "E", "😀", "👩\u200d👧", "ключ", "日本語", "\x00", "\n", "\ud800", "\udfff", '"', "io.x/y"),
    *("a" * 60, "a" * 300, "a" * 299 + "b", "_" * 300, "😀" * 300, "evaluate", "b__evaluate", "a__b__evaluate"),
    *("server", "tool", "mcp", "mcp_1"),
]


def tool(name: str) -> Tool:
    return Tool(name=name, input_schema={"type": "object"})


def names(catalogue: Catalogue) -> dict[tuple[str, str], str]:
    return {(entry.server, entry.tool.name): entry.name for entry in catalogue}


def nasty_text(random: Random) -> str:
    parts = [random.choice([*NASTY, "_", "__", "a", "b"]) for _ in range(random.randrange(4))]
    return "".join(parts)


def nasty_servers() -> list[tuple[str, list[Tool]]]:
    """Return a few thousand tools of servers with any names, many of which become equal when they are cleaned."""
    random = Random(0)
    servers = {*NASTY, *(nasty_text(random) for _ in range(60))}
    tools = {*NASTY, *(nasty_text(random) for _ in range(60))}
    return [(server, [tool(name) for name in sorted(tools)]) for server in sorted(servers)]


@pytest.mark.requirement("R74", "D16")
def test_hostile_names_become_unique_valid_names() -> None:
    servers = nasty_servers()

    found = Catalogue(servers)

    wanted = {(server, each.name) for server, tools in servers for each in tools}
    assert len(wanted) > 5000
    assert names(found).keys() == wanted
    assert len({entry.name for entry in found}) == len(found) == len(wanted)
    assert [entry.name for entry in found if not ACCEPTED.fullmatch(entry.name)] == []
    assert all(found[entry.name] is entry for entry in found)


def test_a_name_does_not_depend_on_the_other_servers_or_on_their_order() -> None:
    servers = nasty_servers()
    together = names(Catalogue(servers))

    assert names(Catalogue(reversed(servers))) == together
    for server in servers:
        alone = names(Catalogue([server]))
        assert alone == {pair: together[pair] for pair in alone}


@pytest.mark.parametrize(
    ("server", "name", "expected"),
    [
        ("github", "create_issue", "github__create_issue"),
        ("my-server", "readFile", "my-server__readFile"),
        ("proxy", "github__create_issue", "proxy__github__create_issue"),
        ("a", "_private", "a___private"),
        ("a", "evaluate", "a__evaluate"),
        ("a", "b__evaluate", "a__b_evaluate__r33brkid"),
        ("My server", "café.search", "My_server__cafe_search__pqiomsj4"),
        ("1password", "get", "mcp_1password__get__mvk5jzrk"),
        ("", "", "server__tool__tdjoxxwq"),
        ("ключ", "😀", "server__tool__ys5r5d2k"),
        ("a_", "b", "a__b__ql4h5o5j"),
        ("a" * 28, "b" * 30, "a" * 28 + "__" + "b" * 30),
        ("a" * 28, "b" * 31, "a" * 20 + "__" + "b" * 28 + "__4p34drso"),
        ("a" * 300, "b", "a" * 47 + "__b__j7i6iqbe"),
    ],
)
def test_names_do_not_change_between_releases(server: str, name: str, expected: str) -> None:
    # What users allowed is remembered by name: a change here breaks it.
    assert names(Catalogue([(server, [tool(name)])])) == {(server, name): expected}


def test_colliding_names_get_different_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    def the_same(server: str, tool: str, attempt: int) -> str:
        return f"aaaaaaa{attempt + 2}"

    monkeypatch.setattr("mcp_launch._catalogue._digest", the_same)

    found = Catalogue([("é", [tool("é")]), ("e", [tool("é"), tool("e ")])])

    assert len({entry.name for entry in found}) == 3


def test_entries_have_the_order_of_the_servers_and_their_lists() -> None:
    tools = [tool("c"), tool("a")]

    found = Catalogue([("z", tools), ("y", []), ("x", tools[:1])])

    assert list(found) == [
        CatalogueEntry("z__c", "z", tools[0]),
        CatalogueEntry("z__a", "z", tools[1]),
        CatalogueEntry("x__c", "x", tools[0]),
    ]
    assert repr(found) == "<Catalogue of 3>"


def test_a_tool_listed_twice_is_included_once() -> None:
    first, other, again = tool("a"), tool("b"), Tool(name="a", description="again", input_schema={})

    assert [entry.tool for entry in Catalogue([("s", [first, other, again])])] == [first, other]


def test_two_servers_of_one_name_with_tools_are_refused() -> None:
    with pytest.raises(UnusableInput, match='two servers in the catalogue are named "s"'):
        Catalogue([("s", [tool("b")]), ("s", [tool("a")])])
    assert len(Catalogue([("s", [tool("b")]), ("s", [])])) == 1


@pytest.mark.parametrize(
    ("asked", "similar"),
    [
        ("github__create_isue", ["github__create_issue"]),
        ("create_issue", ["github__create_issue", "gitlab__create_issue"]),
        ("wholly different", []),
        ("x" * 100_000, []),
    ],
)
def test_an_unknown_tool_error_suggests_similar_names(asked: str, similar: list[str]) -> None:
    found = Catalogue([("github", [tool("create_issue"), tool("search")]), ("gitlab", [tool("create_issue")])])

    with pytest.raises(UnknownTool) as caught:
        found[asked]

    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, LaunchError)
    assert (caught.value.name, caught.value.similar[: len(similar) or 1]) == (asked, similar)
    assert len(str(caught.value)) < 300
    assert asked not in found
    assert "github__search" in found


def test_the_unknown_tool_message_is_a_sentence() -> None:
    found = Catalogue([("github", [tool("search"), tool("Search")])])

    with pytest.raises(UnknownTool) as caught:
        found["github_search"]

    assert str(caught.value) == ('unknown tool "github_search"; did you mean "github__search" or "github__Search"?')


def test_every_pair_of_valid_names_has_a_unique_name() -> None:
    parts = ["".join(each) for length in range(1, 5) for each in product("a_b", repeat=length)]

    found = Catalogue((server, [tool(name) for name in parts]) for server in parts)

    assert len({entry.name for entry in found}) == len(parts) ** 2

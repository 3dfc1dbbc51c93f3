"""No input makes the check raise an exception or show a secret."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any, cast

import pytest

from acp_bindings.check import RULES, Check, Found, Unusable
from tests.acp_bindings.check.conversations import CLEAN, HTTP, STDIO, as_lines, new, opening
from tests.acp_bindings.check.test_rules import BROKEN
from tests.acp_bindings.damage import JUNK as ODD_VALUES

SECRET = "p1anted"
PLANTED = [
    *opening(),
    *new(
        mcpServers=[
            STDIO | {"env": [{"name": "A", "value": SECRET}], "args": ["--token", SECRET]},
            HTTP | {"headers": [{"name": "A", "value": SECRET}], "url": f"http://u:{SECRET}@example.com?key={SECRET}"},
        ]
    ),
]
CONVERSATIONS = [CLEAN, PLANTED, *(each for each in BROKEN.values() if not isinstance(each[-1], bytes))]
IDS = {each.id for each in RULES}
JUNK: list[Any] = [
    *ODD_VALUES,
    *(1e999, "\x00", "\ud800", {"": {}}, {"type": []}, {"sessionId": {}}, {"name": 1, "value": 2}),
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in *value*, with one of its keys or indices."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        for key in members:
            yield members, key
            yield from places(members[key])
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        for index in range(len(items)):
            yield items, index
            yield from places(items[index])


def damaged(random: Random) -> bytes:
    """Return a conversation, a message or a payload, with an error in it."""
    messages: list[Any] = json.loads(json.dumps(random.choice(CONVERSATIONS)))
    for _ in range(random.randrange(4)):
        container, key = random.choice(list(places(messages)))
        if random.random() < 0.2:
            del container[key]
            if not messages:
                break
        else:
            # A copy, which may be damaged next; the one here might even be put into itself.
            container[key] = deepcopy(random.choice(JUNK))
    lines: list[Any] = [each if random.random() < 0.9 else {"from": "agent", "message": each} for each in messages]
    if random.random() < 0.3:
        random.shuffle(lines)
    written = bytearray(random.choice(FORMS)(random, lines))
    for _ in range(random.choice([0, 0, 0, 1, 5])):
        if written:
            written[random.randrange(len(written))] = random.randrange(256)
    return bytes(written)


def piece(random: Random, lines: list[Any]) -> Any:
    """Return one of *lines*, or any value inside them."""
    container, key = random.choice(list(places([lines])))
    return container[key]


FORMS: list[Callable[[Random, list[Any]], bytes]] = [
    lambda _, lines: b"".join(as_lines(lines)),
    lambda random, lines: json.dumps(lines, indent=random.choice([None, 1])).encode(),
    lambda random, lines: json.dumps(random.choice(lines or [{}]), indent=1).encode(),
    lambda random, lines: json.dumps([piece(random, lines) for _ in range(3)]).encode(),
    lambda random, lines: json.dumps(piece(random, lines)).encode(),
]


def checked(raw: bytes, **options: Any) -> list[Found]:
    try:
        return list(Check(raw.splitlines(keepends=True), **options))
    except Unusable:
        return []


@pytest.mark.parametrize("seed", range(20))
def test_damaged_input_does_not_crash_the_check(seed: int) -> None:
    random, seen = Random(seed), 0
    for _ in range(100):
        raw = damaged(random)
        options = random.choice([{}, {}, {"type": "v1.NewSessionRequest"}, {"show_values": True}])
        for each in checked(raw, **options):
            seen += 1
            assert each.rule in IDS
            assert str(each)
            assert SECRET not in str(each) or options == {"show_values": True}
    assert seen > 100

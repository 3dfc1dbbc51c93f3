"""Conversion from every format to every other and back preserves what both can express."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from mcp_launch.config import FORMATS, Config, Entry, Place, read_config, write_config
from mcp_launch.config._formats import format_called
from mcp_launch.config._references import Reference, Text

CAN: dict[str, set[str]] = {
    "acp": {"http", "sse"},
    "claude-desktop": set(),
    "claude-code": {"http", "sse", "env", "default", "timeout"},
    "vscode": {"http", "sse", "env", "input", "home", "workspace", "cwd"},
    "cursor": {"http", "sse", "env", "home", "workspace"},
    "windsurf": {"http", "sse", "env", "disabled"},
    "zed": {"http", "timeout", "disabled"},
    "gemini": {"http", "sse", "env", "default", "cwd", "timeout", "disabled"},
    "goose": {"http", "timeout", "disabled", "own"},
    "codex": {"http", "cwd", "timeout", "disabled", "own"},
    "opencode": {"http", "sse", "env", "cwd", "timeout", "disabled"},
}
"""The optional features of each format. `own` is a variable that is passed on by its name."""
SEVERAL = sorted({*FORMATS} - {"registry"})
"""The formats with any number of servers; `test_registry.py` is about the other."""
for words in CAN.values():
    words.update({"own"} if "env" in words else set())
for client in SEVERAL:
    CAN[client] |= {"any name"} if client != "codex" else set()

NAMES = ["a", "git hub", "ünï-cödé", 'quo"te', "back\\slash", "x.y/z", "1", "true", "null"]
LITERALS = ("", "plain", "a b", "ünï", 'say "hi"', "C:\\dir", "line\nbreak", "on", "1.0", "# no", "- x", "a: b", "\t")


def text(draw: random.Random, can: set[str]) -> Any:
    """Return a random value that all formats with these features can express."""
    references = {
        "env": Reference("", "env", draw.choice(["TOKEN", "API_KEY"])),
        "default": Reference("", "env", "HOST", draw.choice(["", "localhost", "a:b"])),
        "input": Reference("", "input", "key"),
        "home": Reference("", "home"),
        "workspace": Reference("", "workspace"),
    }
    makers = [reference for feature, reference in references.items() if feature in can]
    if not makers or draw.random() < 0.5:
        return draw.choice(LITERALS)
    start = [draw.choice(LITERALS[1:])] if draw.random() < 0.5 else []
    return Text((*start, draw.choice(makers), "end"), Place(1, 1))


def pairs(draw: random.Random, can: set[str]) -> list[dict[str, Any]]:
    found = [
        {"name": name, "value": text(draw, can)} for name in draw.sample(["K", "LOG_LEVEL", "X-Y"], draw.randint(0, 3))
    ]
    if "own" in can and draw.random() < 0.5:
        found.append({"name": "SECRET", "value": Text((Reference("", "env", "SECRET"),), Place(1, 1))})
    return found


def server(draw: random.Random, name: str, can: set[str]) -> dict[str, Any]:
    kind = draw.choice(["stdio", *sorted(can & {"http", "sse"})])
    if kind == "stdio":
        args = [text(draw, can) for _ in range(draw.randint(0, 3))]
        command = draw.choice(["npx", "/a b/c"])
        return {"type": kind, "name": name, "command": command, "args": args, "env": pairs(draw, can)}
    # Goose has no variables in URLs; some clients detect SSE by the end of the path.
    headers = [each for each in pairs(draw, can - {"own"}) if each["name"] != "LOG_LEVEL"]
    url = "https://h.example.com/mcp?x=1" if kind == "http" else "https://h.example.com/sse"
    return {"type": kind, "name": name, "url": url, "headers": headers}


def config(seed: int, can: set[str]) -> Config:
    draw = random.Random(seed)
    entries: list[Entry] = []
    names = NAMES if "any name" in can else ["a", "git-hub", "1", "true", "null"]
    for name in draw.sample(names, draw.randint(0, 4)):
        written = server(draw, name, can)
        stdio = written["type"] == "stdio"
        cwd = "/some/where" if "cwd" in can and stdio and draw.random() < 0.5 else None
        entries.append(
            Entry(
                name=name,
                server=None,
                place=Place(1, 1),
                disabled="disabled" in can and draw.random() < 0.3,
                timeout=draw.choice([None, 1.0, 90.0, 12.0]) if "timeout" in can else None,
                written=written,
                written_cwd=cwd,
            )
        )
    return Config(entries=tuple(entries), format="none", source="generated")


def said(config: Config) -> list[Any]:
    """Return the meaning of a config, regardless of the order of variables."""
    return [
        (entry.name, normal(entry.written), entry.written_cwd, entry.timeout, entry.disabled)
        for entry in config.entries
    ]


def normal(server: dict[str, Any]) -> dict[str, Any]:
    known: dict[str, Any] = {"type": server.get("type", "stdio")}
    for member in ("command", "url", "args"):
        known[member] = server.get(member) or None
    for member in ("env", "headers"):
        found: list[dict[str, Any]] = server.get(member) or []
        known[member] = {pair["name"]: pair["value"] for pair in found}
    return known


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations_with_replacement(SEVERAL, 2)))
def test_everything_that_both_formats_support_survives_a_round_trip(first: str, second: str) -> None:
    can = CAN[first] & CAN[second]
    for seed in range(15):
        generated = config(seed, can)
        text, lost = write_config(generated, first)
        assert lost == [], (seed, text)
        begun = read_config(text, source="f", format=first, env={})
        assert said(begun) == said(generated), seed

        text, lost = write_config(begun, second)
        assert lost == [], (seed, text)
        over = read_config(text, source="f", format=second, env={})
        assert said(over) == said(begun), seed

        text, lost = write_config(over, first)
        assert lost == [], (seed, text)
        assert said(read_config(text, source="f", format=first, env={})) == said(begun), seed


@pytest.mark.parametrize("name", SEVERAL)
def test_written_files_are_detected_by_shape_or_read_the_same(name: str) -> None:
    for seed in range(10):
        text, _ = write_config(config(seed, CAN[name] - {"disabled"}), name)
        source = f"f.{format_called(name).grammar}"
        entries = read_config(text, source=source, env={}).entries
        assert [entry.name for entry in entries] == [entry.name for entry in config(seed, CAN[name]).entries]

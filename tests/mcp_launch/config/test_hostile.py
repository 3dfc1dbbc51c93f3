"""Any file is either read or rejected with a position."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_launch import UnusableInput
from mcp_launch.config import FORMATS, read_config, write_config
from mcp_launch.config._formats import format_called
from mcp_launch.config._read import read_document

SAMPLES = Path(__file__).parent / "samples"
EXPECTED: dict[str, dict[str, Any]] = json.loads((SAMPLES / "expected.json").read_text("utf-8"))
"""What each sample contains, with the path and the environment that it is read with."""
FILES = {sample: str(expected["format"]) for sample, expected in EXPECTED.items()}
WRONG: list[Any] = [None, True, 0, -1.5, 1e999, "", "${", "${}", "$", "x", [], [None], {}, {"": None}, {"a": {"b": []}}]


def survives(text: str, draw: random.Random, *, name: str | None = None) -> None:
    """Read a file, and write the result for one of the clients."""
    try:
        config = read_config(text, source="f.json", format=name, env={}, workspace="/home/ada/shop")
    except UnusableInput as error:
        says_where = re.match(r"f\.json:\d+:\d+: ", str(error))
        if says_where is None:
            raise
        return
    lines = text.count("\n") + 1
    assert all(1 <= found.line <= lines and found.column >= 1 for found in config.findings)
    other = draw.choice(FORMATS)
    try:
        written, _ = write_config(config, other)
    except UnusableInput as error:
        is_meant = re.match(r"f\.json:\d+:\d+: the name .* occurs twice", str(error), re.DOTALL)
        if is_meant is None:
            raise
    else:
        read_config(written, source="g", format=other, env={})


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict):
        for name, item in cast("dict[str, Any]", value).items():
            yield from paths(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from paths(item, (*path, index))


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    changed = copy.deepcopy(value)
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = new
    return changed


@pytest.mark.parametrize("sample", FILES)
def test_wrong_types_everywhere_are_refused_or_read(sample: str) -> None:
    name = FILES[sample]
    text = (SAMPLES / sample).read_text("utf-8")
    value = read_document(text, source="f", grammar=format_called(name).grammar).value
    draw = random.Random(sample)
    for path in paths(value):
        for wrong in draw.sample(WRONG, 6):
            survives(json.dumps(replaced(value, path, wrong)).replace("Infinity", "1e999"), draw, name=name)


@pytest.mark.parametrize("sample", FILES)
def test_a_file_that_is_torn_anywhere_is_refused_or_read(sample: str) -> None:
    name = FILES[sample]
    text = (SAMPLES / sample).read_text("utf-8")
    draw = random.Random(sample)
    for _ in range(150):
        at, until = sorted((draw.randrange(len(text)), draw.randrange(len(text))))
        junk = draw.choice(["", "{", "]", '"', ",", "/*", "//", "\\", "\0", "\ud800", "é", "&a", "*a", "!", "- ", "\n"])
        torn = text[:at] + junk + text[draw.choice([at, until]) :]
        survives(torn, draw, name=draw.choice([name, name, None]))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "text", ["", " ", "null", "0", '"x"', "[]", "{}", "[[]]", "[3]", '{"method": 3}', '{"mcp": 3}']
)
def test_input_that_is_not_a_config_is_refused_or_empty(name: str, text: str) -> None:
    survives(text, random.Random(name + text), name=name)

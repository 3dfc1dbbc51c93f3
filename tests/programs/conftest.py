"""Play each pair once for all tests, and print the table at the end of a run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import cache
from typing import Any, TypeAlias

import anyio
import pytest

from tests.mcp_launch.support import web_server
from tests.programs.page import table
from tests.programs.pairs import Cell, Pair, play

Cells: TypeAlias = Mapping[str, Cell]
_PLAYED: dict[Pair, Cells] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--write-page`."""
    parser.addoption("--write-page", action="store_true", help="write docs/interop.md in place of checking it")


@pytest.fixture(scope="session")
def urls() -> Generator[dict[str, str]]:
    """The URLs of an MCP server, over Streamable HTTP and over SSE."""
    with web_server("http") as http, web_server("sse") as sse:
        yield {"http": http, "sse": sse}


@pytest.fixture(scope="session")
def cells(urls: dict[str, str]) -> Callable[[Pair], Cells]:
    """A function that returns the outcomes of the steps of a pair, which it plays at first use."""

    @cache
    def cells_of(pair: Pair) -> Cells:
        _PLAYED[pair] = anyio.run(play, pair, urls)
        return _PLAYED[pair]

    return cells_of


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show the table."""
    if _PLAYED:
        terminalreporter.section("who understands whom")
        terminalreporter.write(table(_PLAYED))

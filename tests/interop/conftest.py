"""The reader in Node, and the table at the end of a run."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import pytest

from tests.acp_bindings.schemas import PACKAGES
from tests.interop.differences import DIFFERENCES
from tests.interop.typescript import TypeScriptReader, sdk_version, typescript_reader

TALLY = "interop"
TOTALS = ["definitions", "messages", "read alike", "named differences only", "differ"]


@pytest.fixture(scope="session")
def typescript() -> Generator[TypeScriptReader]:
    """One Node process for all tests of a worker."""
    with typescript_reader() as reader:
        yield reader


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Callable[[str, dict[str, int]], None]:
    """A function that counts events in a package, for the table."""
    return lambda package, counts: record_property(TALLY, (package, dict(counts)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print for each package how many messages were compared, and how often each named difference occurred."""
    counts: Counter[tuple[str, str]] = Counter()
    for package, counted in _tallies(terminalreporter):
        counts.update({(package, word): count for word, count in counted.items()})
    if not counts:
        return
    terminalreporter.section(f"acp_bindings and @agentclientprotocol/sdk {sdk_version()}")
    terminalreporter.write_line(_row("", PACKAGES))
    for words in (TOTALS, [each.name for each in DIFFERENCES]):
        for word in words:
            terminalreporter.write_line(_row(word, [f"{counts[package, word]:,}" for package in PACKAGES]))
        terminalreporter.write_line("")
    terminalreporter.write_line("tests/interop/differences.py says why each of them is meant.")


def _tallies(terminalreporter: Any) -> Iterator[tuple[str, dict[str, int]]]:
    # What a test records comes with its report, also from the process of another worker.
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    properties = [
        each for report in reports if getattr(report, "when", "") == "call" for each in report.user_properties
    ]
    return (tally for name, tally in properties if name == TALLY)


def _row(title: str, cells: Iterable[str]) -> str:
    return f"{title:<26}" + "".join(f"{cell:>14}" for cell in cells)

"""The reader in Node, and the table at the end of a run."""

from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

from tests.acp_bindings.schemas import PACKAGES
from tests.interop.differences import DIFFERENCES
from tests.interop.typescript import TypeScriptReader, sdk_version, typescript_reader

TALLY = "interop"


@pytest.fixture(scope="session")
def typescript() -> Generator[TypeScriptReader]:
    """One Node process for all tests of a worker."""
    with typescript_reader() as reader:
        yield reader


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say for each package how many messages were compared, and how often each named difference was met."""
    counts: Counter[tuple[str, str]] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, tally in report.user_properties if getattr(report, "when", "") == "call" else ():
                if name == TALLY:
                    package, counted = tally
                    counts.update({(package, word): count for word, count in counted.items()})
    if not counts:
        return
    terminalreporter.section(f"acp_bindings and @agentclientprotocol/sdk {sdk_version()}")
    terminalreporter.write_line(_row("", PACKAGES))
    for words in (
        ["definitions", "messages", "read alike", "named differences only", "differ"],
        [each.name for each in DIFFERENCES],
    ):
        for word in words:
            terminalreporter.write_line(_row(word, [f"{counts[package, word]:,}" for package in PACKAGES]))
        terminalreporter.write_line("")
    terminalreporter.write_line("tests/interop/differences.py says why each of them is meant.")


def _row(title: str, cells: Any) -> str:
    return f"{title:<26}" + "".join(f"{cell:>14}" for cell in cells)

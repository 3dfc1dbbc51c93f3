"""The table of failures: every case on both event loops, expected and measured.

Prints one line for each case, and a summary: whether anything is left running, and whether any of the secrets that were
planted can be read in anything that was said. The exit status is 1 when one line is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, TypeAlias

import anyio

from tests.mcp_launch.failures.beside import beside
from tests.mcp_launch.failures.catalogue import CASES, Case, Scenario, codes_of
from tests.mcp_launch.failures.command import Checked, check_all
from tests.mcp_launch.failures.play import Outcome, play
from tests.mcp_launch.failures.secrets import Leak, leaks

Show: TypeAlias = Callable[[Case | Scenario, Outcome], None]

_GRACE = 1.0
"""Seconds by which a wait may exceed its budget on a busy machine."""
_WIDTHS = (37, 30, 30, 4, 4, 4, 5)
_COMPLAINTS = ("Traceback", "Exception ignored", "ResourceWarning", "RuntimeWarning", "never retrieved")


def main() -> int:
    """Play the cases, print the table, and return the exit status."""
    options = _options()
    cases = [case for case in CASES if options.only in str(case)]
    with tempfile.TemporaryDirectory() as folder, _kept_to_itself() as (out, kept):
        table = _Table(out, messages=options.messages)
        first, *others = options.backend.split(",")
        outcomes = {first: _play_all(cases, Path(folder), backend=first, show=table.row)}
        for backend in others:
            table.print("")
            outcomes[backend] = _play_all(cases, Path(folder), backend=backend, show=table.row_if_wrong)
        if options.beside:
            _play_beside(cases, Path(folder), table)
        checked = [] if options.only else [_check(Path(folder), as_json=as_json) for as_json in (False, True)]
        table.sum_up(cases, outcomes, checked)
        said = kept()
        complaints = [line for line in said.splitlines() if any(sign in line for sign in _COMPLAINTS)]
        found = _search_all(table, [outcome for each in outcomes.values() for outcome in each], checked, said=said)
        for line in complaints:
            table.print(f"on standard error: {line}")
    wrong = any(outcome.wrong for each in outcomes.values() for outcome in each) or any(each.wrong for each in checked)
    return 1 if wrong or complaints or found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="nox -s failures --", description=__doc__)
    parser.add_argument("--backend", default="asyncio,trio", help="the event loops; the first one's times are shown")
    parser.add_argument("--messages", action="store_true", help="print under each line what the user is told")
    parser.add_argument("--beside", action="store_true", help="tell what the SDK's own client makes of each; minutes")
    parser.add_argument("--only", default="", metavar="TEXT", help="play the cases whose name holds this")
    return parser.parse_args()


def _play_all(cases: list[Case | Scenario], folder: Path, *, backend: str, show: Show) -> list[Outcome]:
    async def play_all() -> list[Outcome]:
        outcomes: list[Outcome] = []
        for number, case in enumerate(cases):
            own = folder / f"{backend}-{number}"
            own.mkdir()
            outcomes.append(await play(case, own, grace=_GRACE))
            show(case, outcomes[-1])
        return outcomes

    return anyio.run(play_all, backend=backend)


def _play_beside(cases: list[Case | Scenario], folder: Path, table: _Table) -> None:
    table.print("")
    table.print("The SDK's own mcp.Client, with the same servers:")
    for number, case in enumerate(cases):
        if isinstance(case, Case):
            own = folder / f"beside-{number}"
            own.mkdir()
            table.print(f"{case!s:<60} {anyio.run(beside, case, own)}")


def _check(folder: Path, *, as_json: bool) -> Checked:
    own = folder / f"check-{as_json}"
    own.mkdir()
    return check_all(own, as_json=as_json)


@contextmanager
def _kept_to_itself() -> Generator[tuple[TextIO, Callable[[], str]]]:
    """Redirect our output and our children's to a file. Yield the original output, and a function to read the file."""
    sys.stdout.flush()
    sys.stderr.flush()
    warnings.simplefilter("always")
    saved = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as file, os.fdopen(os.dup(1), "w", encoding="utf-8") as out:

        def kept() -> str:
            sys.stdout.flush()
            sys.stderr.flush()
            file.seek(0)
            return file.read().decode(errors="replace")

        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            yield out, kept
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, descriptor in zip((1, 2), saved, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)


class _Table:
    """Prints text, and stores what it printed."""

    def __init__(self, out: TextIO, *, messages: bool) -> None:
        self.printed: list[str] = []
        self._out = out
        self._messages = messages
        self._group = ""

    def print(self, line: str) -> None:
        """Print one line."""
        self.printed.append(f"{line}\n")
        self._out.write(self.printed[-1])
        self._out.flush()

    def row(self, case: Case | Scenario, outcome: Outcome) -> None:
        """Print one case, below the heading of its group."""
        if case.group != self._group:
            self._group = case.group
            self.print("")
            self._cells(case.group, "must be", "is", "s", "end", "left", "")
        left = outcome.processes + outcome.descriptors + outcome.tasks
        seconds, closing = f"{outcome.seconds:.1f}", f"{outcome.closing:.1f}" if outcome.closing is not None else ""
        verdict = "WRONG" if outcome.wrong else "right"
        self._cells(case.what, case.must, outcome.measured, seconds, closing, str(left), verdict)
        for line in outcome.wrong:
            self.print(f"    {line}")
        for line in outcome.said if self._messages else ():
            self.print(f"    {line}")

    def row_if_wrong(self, case: Case | Scenario, outcome: Outcome) -> None:
        """Print one case if there is something to report."""
        if outcome.wrong:
            self.row(case, outcome)

    def _cells(self, *cells: str) -> None:
        self.print(" ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip())

    def sum_up(
        self,
        cases: Sequence[Case | Scenario],
        outcomes: Mapping[str, Sequence[Outcome]],
        checked: Sequence[Checked],
    ) -> None:
        """Print how many cases are right, and what is left."""
        self.print("")
        codes = codes_of(cases)
        self.print(f"{len(cases)} cases: {len(codes)} ways in which a server fails, with {len(set(codes))} codes")
        self.print("s: seconds until it failed, or was ready and used; end: until all was closed;")
        self.print(f"left: processes, descriptors and tasks; wrong is also a wait {_GRACE:g} s past its budget")
        for backend, found in outcomes.items():
            right = sum(not outcome.wrong for outcome in found)
            left = {
                "processes": sum(outcome.processes for outcome in found),
                "descriptors": sum(outcome.descriptors for outcome in found),
                "tasks": sum(outcome.tasks for outcome in found),
            }
            counts = ", ".join(f"{count} {what}" for what, count in left.items())
            self.print(f"{backend}: {right} of {len(cases)} right; left running: {counts}")
        for kind, each in zip(("check", "check --json"), checked, strict=False):
            told = f"mcp-launch {kind}: {each.servers} of these servers at once, {each.seconds:.1f} s"
            self.print(f"{told}; {len(each.wrong)} wrong, {each.processes} processes left")
            for line in each.wrong:
                self.print(f"    {line}")


def _search_all(table: _Table, outcomes: Sequence[Outcome], checked: Sequence[Checked], *, said: str) -> list[Leak]:
    """Search everything that a single case could not search, and print how much was searched in total."""
    planted = [outcome.planted for outcome in outcomes] + [one for each in checked for one in each.planted]
    own = {"standard output and error of this process": said, "this table": "".join(table.printed)}
    found = [
        *leaks(own, planted),
        *(leak for each in (*outcomes, *checked) for leak in each.leaks),
    ]
    sizes: Counter[str] = Counter()
    for each in outcomes:
        sizes.update({channel.partition(" (")[0]: len(text) for channel, text in each.shown.items()})
    for each in checked:
        sizes.update({f"mcp-launch check, {channel}": len(text) for channel, text in each.shown.items()})
    sizes.update({channel: len(text) for channel, text in own.items()})
    kinds = sorted({kind for each in planted for kind in each.kinds})
    table.print("")
    table.print(f"{sum(map(len, planted))} secrets planted: {', '.join(kinds)}")
    table.print("each searched for in every way of quoting it, in halves, and in base64; characters searched:")
    for channel, size in sizes.most_common():
        table.print(f"{size:>12,}  {channel}")
    table.print("none found" if not found else f"FOUND: {len(found)}")
    for leak in found:
        table.print(f"    {leak}")
    return found


if __name__ == "__main__":
    sys.exit(main())

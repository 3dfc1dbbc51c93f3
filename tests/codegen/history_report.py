"""Build and test every schema ever published: `python -m tests.codegen.history_report` prints a line for each.

Exit status: 0 when each one passes or is refused with the reason, 1 when one is wrong, 2 when npm cannot be asked.
"""

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from codegen.lock import SourceError
from tests.codegen.published import deliveries
from tests.codegen.replay import Gates, Replayed, replay

EMPTY = Replayed(verdict="refused", said="it has no schema where one was expected")
ROW = "{:<10}{:<25}{:>11}  {}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table row by row, and return the exit status."""
    options = _parser().parse_args(argv)
    gates = Gates(valid=options.valid, damaged=options.damaged)
    print(ROW.format("version", "schema", "definitions", "result"))
    try:
        published = list(deliveries(options.kept, versions=options.versions))
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    first: dict[tuple[str, bytes], str] = {}
    with ProcessPoolExecutor(options.processes, mp_context=multiprocessing.get_context("spawn")) as workers:
        rows: list[tuple[str, str, Future[Replayed] | Replayed | str]] = []
        for delivery in published:
            for file, data in delivery.files.items():
                if before := first.get((file, data)):
                    rows.append((delivery.version, file, f"the same as in {before}"))
                    continue
                first[file, data] = delivery.version
                future = workers.submit(replay, file, data, delivery.source, gates)
                rows.append((delivery.version, file, future))
            if not delivery.files:
                rows.append((delivery.version, "-", EMPTY))
        verdicts = Counter(_shown(*row) for row in rows)
    print(f"\n{len(published)} versions, {len(first)} different schemas: ", end="")
    print(", ".join(f"{verdicts[verdict]} {verdict}" for verdict in ("passed", "refused", "WRONG")))
    return 1 if verdicts["WRONG"] else 0


def _shown(version: str, file: str, result: Future[Replayed] | Replayed | str) -> str:
    """Print one row, and return its verdict."""
    if isinstance(result, str):
        print(ROW.format(version, file, "", result), flush=True)
        return "repeated"
    replayed = result.result() if isinstance(result, Future) else result
    said = f"{replayed.verdict}: {replayed.said}"
    print(ROW.format(version, file, replayed.definitions or "", said), flush=True)
    return replayed.verdict


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nox -s history --", description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="only these (all that npm has)")
    parser.add_argument(
        "--kept", type=Path, required=True, metavar="PATH", help="the folder that keeps what is fetched"
    )
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="how many schemas at a time (2)")
    parser.add_argument("--valid", type=int, default=100, metavar="N", help="valid instances of each definition (100)")
    parser.add_argument("--damaged", type=int, default=25, metavar="N", help="damaged ones (25)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""The requirements and the tests that prove them: `python -m tests.docs.requirements` writes the page of both.

With `--check` it writes nothing, and exits with status 1 if the page is out of date or requirements and tests disagree.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "requirements.md"


@dataclass(frozen=True)
class Part:
    """A part of this project, and the folder of its tests."""

    id: str
    says: str
    tests: str


@dataclass(frozen=True)
class Row:
    """A requirement, or a row for information."""

    id: str
    level: str
    says: str
    side: str = ""
    where: tuple[str, ...] = ()
    """The parts that implement it."""
    decisions: tuple[str, ...] = ()
    untested: str = ""
    """The reason why it has no test."""
    open: str = ""
    """The part that is not implemented."""


@dataclass(frozen=True)
class Section:
    """Rows about one subject, and the page of the protocol that they come from."""

    title: str
    source: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Decision:
    """A decision where texts, schemas and programs disagree."""

    id: str
    differs: str
    decided: str


@dataclass(frozen=True)
class Requirements:
    """The content of `docs/requirements.toml`."""

    parts: tuple[Part, ...]
    sections: tuple[Section, ...]
    decisions: tuple[Decision, ...]

    @property
    def rows(self) -> Iterator[Row]:
        """The rows of all sections, in their order."""
        return (row for section in self.sections for row in section.rows)


@dataclass(frozen=True, order=True)
class Proof:
    """A test with the marker `requirement`; the file is relative to the repository."""

    file: str
    name: str
    marks: tuple[str, ...]
    """The rows and decisions that the marker names: `("R22", "D10")`."""

    @property
    def says(self) -> str:
        """The claim in its name: `both sides settle on a package`."""
        return self.name.removeprefix("test_").replace("_", " ")


def read(file: Path = ROOT / "docs" / "requirements.toml") -> Requirements:
    """Return the requirements in a file."""
    written = tomllib.loads(file.read_text(encoding="utf-8"))
    return Requirements(
        tuple(Part(id=id_, **part) for id_, part in written["parts"].items()),
        tuple(
            Section(each["title"], each["source"], tuple(Row(id=id_, **row) for id_, row in each["rows"].items()))
            for each in written["sections"]
        ),
        tuple(Decision(id=id_, **decision) for id_, decision in written["decisions"].items()),
    )


def find(root: Path = ROOT) -> list[Proof]:
    """Return the tests below *root* that have the marker `requirement`; nothing is imported."""
    found = [
        Proof(file.relative_to(root).as_posix(), node.name, marks)
        for file in (root / "tests").rglob("test_*.py")
        for node in ast.parse(file.read_bytes(), filename=str(file)).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (marks := _marks(node))
    ]
    return sorted(found)


def _marks(test: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    return tuple(
        str(ast.literal_eval(argument))
        for decorator in test.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.requirement"
        for argument in decorator.args
    )


def complaints(required: Requirements, tests: Sequence[Proof]) -> Iterator[str]:
    """Return the mismatches: parts without a test of a row, tests of unknown rows, unknown decisions."""
    known = {each.id for each in (*required.rows, *required.decisions)}
    for test in tests:
        for mark in test.marks:
            if mark not in known:
                yield f"{test.file}: {test.name}: there is no {mark}"
    proofs = by_mark(tests)
    for row in required.rows:
        found = proofs.get(row.id, [])
        if bool(row.untested) == bool(row.where):
            yield f"{row.id} must have a part that implements it, or a reason why it has no test"
        if row.untested and found:
            yield f"{row.id} has a test, and a reason why it has none"
        for part in required.parts:
            if part.id in row.where and not any(test.file.startswith(f"{part.tests}/") for test in found):
                yield f"{row.id} has no test in {part.tests}: {row.says}"
    yield from _dangling({part.id for part in required.parts}, required.rows, lambda row: row.where)
    yield from _dangling({each.id for each in required.decisions}, required.rows, lambda row: row.decisions)


def _dangling(known: set[str], rows: Iterable[Row], named: Callable[[Row], tuple[str, ...]]) -> Iterator[str]:
    """Return the unknown names in rows, and the names that no row uses."""
    unused = set(known)
    for row in rows:
        yield from (f"{row.id}: there is no {name}" for name in named(row) if name not in known)
        unused.difference_update(named(row))
    yield from (f"no row has {name}" for name in sorted(unused))


def by_mark(tests: Sequence[Proof]) -> Mapping[str, list[Proof]]:
    """Return the tests of each row and decision."""
    found: dict[str, list[Proof]] = {}
    for test in tests:
        for mark in test.marks:
            found.setdefault(mark, []).append(test)
    return found


def page(required: Requirements, tests: Sequence[Proof]) -> str:
    """Return the page as Markdown."""
    proofs = by_mark(tests)
    rows = list(required.rows)
    counted = f"{len(rows)} rows, {sum(row.id in proofs for row in rows)} with tests, {len(tests)} tests."
    lines = [*HEAD, *(f"- **{part.id}**: {part.says}" for part in required.parts), "", counted]
    for section in required.sections:
        lines += ["", f"## {section.title}", "", f"From <{section.source}>.", ""]
        lines += _table(["", "what", "level", "side", "parts", "tests"], (_row(row, proofs) for row in section.rows))
        lines += _listed([row.id for row in section.rows], proofs)
    lines += ["", "## Decisions", "", "Decisions where texts, schemas and programs disagree.", ""]
    lines += _table(
        ["", "what differs", "what is done here", "tests"],
        ([_anchor(each.id), each.differs, each.decided, _count(each.id, proofs)] for each in required.decisions),
    )
    lines += _listed([each.id for each in required.decisions], proofs)
    return "\n".join(lines) + "\n"


HEAD = [
    "# What session setup requires, and what proves it",
    "",
    "<!-- Written by `nox -s requirements` from requirements.toml and the markers of the tests; do not edit. -->",
    "",
    "Each row is something that a client or an agent of the Agent Client Protocol must do or consider when a",
    "connection and its sessions are set up. Its *level* is how strictly it is required (MUST, SHOULD, …), or the kind",
    "of row. Its *side* is who must do it; rows without a side are for information. A marker of each test names its",
    "rows. Each row has at least one test in each of the *parts* of this project that implement it:",
    "",
]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for cells in rows:
        yield f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


BAR = r"\|"
"""`|` in a table cell."""


def _row(row: Row, proofs: Mapping[str, Sequence[Proof]]) -> list[str]:
    says = [row.says]
    if row.decisions:
        says.append(f"({', '.join(f'[{each}](#{each.lower()})' for each in row.decisions)})")
    if row.untested:
        says.append(f"*No test: {row.untested}*")
    if row.open:
        says.append(f"**Open:** {row.open}")
    return [_anchor(row.id), " ".join(says), row.level, row.side, ", ".join(row.where), _count(row.id, proofs)]


def _anchor(id_: str) -> str:
    """Return the target of `#r1`."""
    return f'<a id="{id_.lower()}"></a>{id_}'


def _count(id_: str, proofs: Mapping[str, Sequence[Proof]]) -> str:
    """Return the number of tests, as a link to them."""
    return f"[{len(proofs[id_])}](#{id_.lower()}-tests)" if id_ in proofs else ""


def _listed(ids: Sequence[str], proofs: Mapping[str, Sequence[Proof]]) -> Iterator[str]:
    """Return a folded list of the tests of each row."""
    tested = [id_ for id_ in ids if id_ in proofs]
    if not tested:
        return
    which = " to ".join(dict.fromkeys((tested[0], tested[-1])))
    yield from ("", f"<details><summary>The tests of {which}</summary>", "")
    for id_ in tested:
        links = "; ".join(f"[{test.says}](../{test.file})" for test in proofs[id_])
        yield f'- <a id="{id_.lower()}-tests"></a>**{id_}**: {links}'
    yield from ("", "</details>")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page, or compare it with `--check`; return the exit status."""
    parser = argparse.ArgumentParser(prog="nox -s requirements --", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    options = parser.parse_args(argv)
    required, tests = read(), find()
    wrong = list(complaints(required, tests))
    if not options.check:
        PAGE.write_text(page(required, tests), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page(required, tests):
        wrong.append("docs/requirements.md is out of date; run `nox -s requirements`")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every requirement has a test with its marker, and the page of both is current."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.requirements import (
    PAGE,
    ROOT,
    Decision,
    Part,
    Proof,
    Requirements,
    Row,
    Section,
    complaints,
    find,
    page,
    read,
)

REQUIRED = Requirements(
    (Part("setup", "the rules", "tests/a"), Part("check", "the command", "tests/b")),
    (
        Section(
            "Paths",
            "https://example.org/paths",
            (
                Row("R1", "MUST", "A path is absolute.", side="client", where=("setup", "check"), decisions=("D1",)),
                Row("R2", "status", "It was a draft.", untested="That was long ago."),
                Row("R10", "MAY", "It may be `a|b`.", side="agent", where=("setup",), open="How long is not said."),
            ),
        ),
    ),
    (Decision("D1", "Some write `.`.", "It is refused."),),
)
GOOD = [
    Proof("tests/a/test_x.py", "test_a_dot_is_refused", ("R1", "D1")),
    Proof("tests/a/test_x.py", "test_long_ones_too", ("R1", "R10")),
    Proof("tests/b/test_y.py", "test_it_says_so", ("R1",)),
]


def test_every_row_has_a_test_and_every_test_a_row() -> None:
    assert list(complaints(read(), find())) == []


def test_the_page_is_current() -> None:
    current = PAGE.read_text(encoding="utf-8") == page(read(), find())
    assert current, "docs/requirements.md is out of date; run `nox -s requirements`"


def test_the_tests_of_every_part_always_run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    always = [Path(folder) for folder in project["tool"]["pytest"]["ini_options"]["testpaths"]]

    assert [part.tests for part in read().parts if not any(map(Path(part.tests).is_relative_to, always))] == []


def test_every_link_within_the_page_has_a_target() -> None:
    required = read()
    written = page(required, find())
    anchors = re.findall(r'<a id="([^"]+)">', written)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", written)) <= set(anchors)
    assert {each.id.lower() for each in (*required.rows, *required.decisions)} <= set(anchors)


@pytest.mark.parametrize(
    ("tests", "wrong"),
    [
        (GOOD, []),
        ([GOOD[0], GOOD[2]], ["R10 has no test in tests/a: It may be `a|b`."]),
        (GOOD[:2], ["R1 has no test in tests/b: A path is absolute."]),
        (
            [*GOOD, Proof("tests/a/test_y.py", "test_no_row", ("R3",))],
            ["tests/a/test_y.py: test_no_row: there is no R3"],
        ),
        ([*GOOD, Proof("tests/a/test_y.py", "test_x", ("R2",))], ["R2 has a test, and a reason why it has none"]),
    ],
)
def test_mismatches_of_rows_and_tests_are_reported(tests: list[Proof], wrong: list[str]) -> None:
    assert list(complaints(REQUIRED, tests)) == wrong


def test_unknown_and_unused_names_are_reported() -> None:
    other = Requirements((REQUIRED.parts[0], Part("page", "", "")), REQUIRED.sections, (Decision("D9", "", ""),))

    assert list(complaints(other, GOOD[1:])) == [
        "R1: there is no check",
        "no row has page",
        "R1: there is no D1",
        "no row has D9",
    ]


def test_a_row_without_a_part_requires_a_reason() -> None:
    rows = (Row("R1", "MUST", "It is so."), Row("R2", "MUST", "It is so.", where=("setup",), untested="It is hard."))
    required = Requirements(REQUIRED.parts[:1], (Section("", "", rows),), ())

    assert [complaint.split()[:3] for complaint in complaints(required, [])] == [
        ["R1", "must", "have"],
        ["R2", "must", "have"],
        ["R2", "has", "no"],
    ]


def test_tests_are_found_by_their_markers_without_importing_them(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "deep"
    folder.mkdir(parents=True)
    (folder / "test_it.py").write_text(
        "import no_such_module\n"
        '@pytest.mark.requirement("R2", "D10b")\ndef test_later(): ...\n'
        '@pytest.mark.requirement("R1")\nasync def test_first(): ...\n'
        "def test_without_a_row(): ...\n"
    )
    (folder / "support.py").write_text('@pytest.mark.requirement("R4")\ndef test_never_run(): ...\n')

    assert find(tmp_path) == [
        Proof("tests/deep/test_it.py", "test_first", ("R1",)),
        Proof("tests/deep/test_it.py", "test_later", ("R2", "D10b")),
    ]

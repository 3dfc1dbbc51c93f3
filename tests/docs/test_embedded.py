"""What the pages show of programs, by their markers, is what these print today."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from mcp_launch.failures import Code
from tests.docs.embed import MARKER, PAGES, ROOT, filled, fresh

FAILURES = ROOT / "docs" / "failures"
HEADINGS = ["What you see", "Why it happens", "How to tell", "What to do"]


def markers() -> list[Any]:
    """Every marker, with the page that it is in."""
    return [
        pytest.param(text, found, id=f"{page.relative_to(ROOT)}-{found[2] or found[1]}")
        for page in PAGES
        for text in [page.read_text(encoding="utf-8")]
        for found in MARKER.finditer(text)
    ]


@pytest.mark.parametrize(("text", "found"), markers())
def test_a_page_shows_what_programs_say(text: str, found: re.Match[str]) -> None:
    assert found[3] == fresh(text, found), "nox -s docs -- --write mends it"


def test_no_marker_is_misspelt_or_without_an_end() -> None:
    marks = re.compile(r"^<!-- (\w+)", re.MULTILINE)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        # Of those that the site alone fills in, and of remarks, there is no end.
        endless = {"Written", "reference", "package", "walk"}
        assert set(marks.findall(MARKER.sub("", text))) <= endless, page


def test_what_stands_behind_a_marker_is_replaced_and_the_rest_is_left_alone() -> None:
    page = "before\n<!-- run: acp-bindings --version -->\nstale\n<!-- end -->\nbehind\n"

    written = filled(page)

    assert re.fullmatch(
        r"before\n<!-- run: acp-bindings --version -->\n"
        r"```console\n\$ acp-bindings --version\nacp-bindings [\d.]+\S*\n```\n<!-- end -->\nbehind\n",
        written,
    )
    assert filled(written) == written


def test_every_code_of_a_failure_has_a_page_and_every_page_a_code() -> None:
    assert {page.stem for page in FAILURES.glob("*.md")} == {"README", *get_args(Code)}


@pytest.mark.parametrize("code", get_args(Code))
def test_a_page_of_a_failure_says_what_why_how_to_tell_and_what_to_do(code: str) -> None:
    page = Path(FAILURES, f"{code}.md").read_text(encoding="utf-8")
    sections = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)

    assert page.startswith(f"# `{code}`\n\n")
    assert sections[1::2] == HEADINGS
    assert [section for section in sections[2::2] if not section.strip()] == []
    assert f"<!-- run: python examples/failures.py {code} -->" in sections[2]
    assert sections[8].startswith(f"\n<!-- advice: {code} -->\n")
    # What is shown is this failure, not another one.
    assert re.findall(r"^code +(\w+)$", sections[2], re.MULTILINE) == [code]

"""The embedded output of programs on the pages is current."""

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
    """Return every marker with its page."""
    return [
        pytest.param(text, found, id=f"{page.relative_to(ROOT)}-{found[2] or found[1]}")
        for page in PAGES
        for text in [page.read_text(encoding="utf-8")]
        for found in MARKER.finditer(text)
    ]


@pytest.mark.parametrize(("text", "found"), markers())
def test_embedded_output_is_current(text: str, found: re.Match[str]) -> None:
    assert found[3] == fresh(text, found), "run nox -s docs -- --write"
    assert not (ROOT / "notes.txt").exists(), "a program of the tutorial has written into the repository"


def test_every_marker_is_spelled_correctly_and_closed() -> None:
    marks = re.compile(r"^<!-- (\w+)", re.MULTILINE)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        # Comments, and markers that only the site fills in, have no end.
        endless = {"Written", "reference", "package", "walk"}
        assert set(marks.findall(MARKER.sub("", text))) <= endless, page


def test_only_the_text_between_markers_is_replaced() -> None:
    page = "before\n<!-- run: acp-bindings --version -->\nstale\n<!-- end -->\nbehind\n"

    written = filled(page)

    assert re.fullmatch(
        r"before\n<!-- run: acp-bindings --version -->\n"
        r"```console\n\$ acp-bindings --version\nacp-bindings [\d.]+\S*\n```\n<!-- end -->\nbehind\n",
        written,
    )
    assert filled(written) == written


def test_every_failure_code_has_a_page() -> None:
    assert {page.stem for page in FAILURES.glob("*.md")} == {"README", *get_args(Code)}


@pytest.mark.parametrize("code", get_args(Code))
def test_the_page_of_a_failure_has_all_sections(code: str) -> None:
    page = Path(FAILURES, f"{code}.md").read_text(encoding="utf-8")
    sections = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)

    assert page.startswith(f"# `{code}`\n\n")
    assert sections[1::2] == HEADINGS
    assert [section for section in sections[2::2] if not section.strip()] == []
    assert f"<!-- run: python examples/failures.py {code} -->" in sections[2]
    assert sections[8].startswith(f"\n<!-- advice: {code} -->\n")
    # The output shows this failure.
    assert re.findall(r"^code +(\w+)$", sections[2], re.MULTILINE) == [code]

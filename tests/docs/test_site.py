"""The check of the site finds broken links and resources of other hosts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.embed import ROOT

LINKS = ROOT / "docs" / "making" / "links.py"


def complaints(site: Path) -> list[str]:
    done = subprocess.run([sys.executable, LINKS, site], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == (1 if done.stdout else 0)
    return done.stdout.splitlines()


def test_a_site_without_broken_links_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "style.css").write_text("")
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="style.css"><a href="b.html#here">b</a><a href="#">top</a><p id="x"></p>'
        '<a href="#x">x</a><a href="https://example.com/no-such-page">elsewhere</a>'
    )
    (tmp_path / "b.html").write_text('<a name="here"></a><a href="a.html">a</a>')

    assert complaints(tmp_path) == []


@pytest.mark.parametrize(
    ("html", "wrong"),
    [
        ('<a href="no.html">', "a.html: there is no no.html"),
        ('<a href="b.html#nowhere">', "a.html: there is no anchor b.html#nowhere"),
        ('<a href="#nowhere">', "a.html: there is no anchor #nowhere"),
        ('<source srcset="no.png">', "a.html: there is no no.png"),
        ('<script src="https://example.com/x.js">', "a.html: fetched from elsewhere: https://example.com/x.js"),
        ('<link rel="stylesheet" href="//example.com/x.css">', "a.html: fetched from elsewhere: //example.com/x.css"),
    ],
)
def test_broken_links_and_resources_of_other_hosts_are_reported(html: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(html)
    (tmp_path / "b.html").write_text("<p id=here></p>")

    assert complaints(tmp_path) == [wrong]


def test_a_site_without_pages_is_rejected(tmp_path: Path) -> None:
    assert complaints(tmp_path) == [f"{tmp_path}: there are no pages"]

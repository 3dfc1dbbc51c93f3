"""`mcp-launch check --junit FILE --html FILE`, run as users run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.mcp_launch.show.page import parse
from tests.mcp_launch.support import SECRET, SERVERS, run_python

CONFIG = {
    "mcpServers": {
        name: {"command": sys.executable, "args": [str(SERVERS / "plain.py"), mode], "env": {"SECRET": SECRET}}
        for name, mode in (("good", "works"), ("bad", "exits_with_message"))
    }
}


def check(*options: str, config: object = CONFIG) -> subprocess.CompletedProcess[str]:
    return run_python("-m", "mcp_launch", "check", *options, "-", stdin=json.dumps(config), NO_COLOR="1")


def test_a_check_writes_what_it_found_in_both_forms(tmp_path: Path) -> None:
    junit, html = tmp_path / "junit.xml", tmp_path / "report.html"

    done = check("--junit", str(junit), "--html", str(html))

    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (1, "", 2)
    cases = {case.get("name"): [child.tag for child in case] for case in ET.parse(junit).iter("testcase")}
    assert cases == {"good": ["system-out"], "bad": ["failure", "system-out"]}
    page = parse(html.read_text(encoding="utf-8"))
    assert page.one("h1").words == "1 of 2 servers failed"
    assert "cannot start with key [redacted]" in page.one(class_="message").words
    assert SECRET not in junit.read_text(encoding="utf-8") + html.read_text(encoding="utf-8")


def test_with_strict_the_files_say_that_a_warning_is_a_failure(tmp_path: Path) -> None:
    junit, html = tmp_path / "junit.xml", tmp_path / "report.html"
    noisy = {"command": sys.executable, "args": [str(SERVERS / "plain.py"), "prints_banner"]}

    done = check("--strict", "--junit", str(junit), "--html", str(html), config={"mcpServers": {"noisy": noisy}})

    assert done.returncode == 1
    assert [failure.get("type") for failure in ET.parse(junit).iter("failure")] == ["warning"]
    assert parse(html.read_text(encoding="utf-8")).one("h1").words == "1 of 1 server failed"


def test_the_files_stand_beside_the_json(tmp_path: Path) -> None:
    html = tmp_path / "report.html"

    done = check("--json", "--html", str(html), config=[])

    assert (done.returncode, json.loads(done.stdout)) == (
        0,
        {"ok": True, "servers": [], "findings": [], "unusable": []},
    )
    assert parse(html.read_text(encoding="utf-8")).one("h1").words == "No servers"


def test_a_file_that_cannot_be_written_exits_2_and_costs_neither_the_other_nor_the_lines(tmp_path: Path) -> None:
    html = tmp_path / "report.html"

    done = check("--junit", str(tmp_path / "none" / "junit.xml"), "--html", str(html), config=[])

    assert (done.returncode, done.stdout) == (2, "no servers\n")
    assert done.stderr == f"mcp-launch: {tmp_path}/none/junit.xml: No such file or directory\n"
    assert html.exists()


@pytest.mark.parametrize(
    ("options", "wanted"), [((), False), (("--junit", "junit.xml"), False), (("--html", "a.html"), True)]
)
def test_the_template_library_is_imported_only_for_a_page(
    options: tuple[str, ...], wanted: bool, tmp_path: Path
) -> None:
    placed = [str(tmp_path / each) if "." in each else each for each in options]

    done = run_python("-X", "importtime", "-m", "mcp_launch", "check", *placed, "-", stdin="[]")

    assert done.returncode == 0
    assert (" jinja2\n" in done.stderr) is wanted

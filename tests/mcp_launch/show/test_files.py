"""`mcp-launch check --junit FILE --html FILE`, run as users run it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mcp_launch._command.check import write_files
from mcp_launch.report import CheckReport
from tests.mcp_launch.here import run_here
from tests.mcp_launch.show.page import parse
from tests.mcp_launch.support import SECRET, SERVERS, run_python

CONFIG = {
    "mcpServers": {
        name: {"command": sys.executable, "args": ["-S", str(SERVERS / "plain.py"), mode], "env": {"SECRET": SECRET}}
        for name, mode in (("good", "works"), ("bad", "exits_with_message"))
    }
}


def check(*options: str, config: object = CONFIG) -> subprocess.CompletedProcess[str]:
    return run_here("check", *options, "-", stdin=json.dumps(config))


def test_a_check_writes_both_reports(tmp_path: Path) -> None:
    junit, html = tmp_path / "junit.xml", tmp_path / "report.html"

    done = check("--junit", str(junit), "--html", str(html))

    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (1, "", 2)
    cases = {case.get("name"): [child.tag for child in case] for case in ET.parse(junit).iter("testcase")}
    assert cases == {"good": ["system-out"], "bad": ["failure", "system-out"]}
    page = parse(html.read_text(encoding="utf-8"))
    assert page.one("h1").words == "1 of 2 servers failed"
    assert "cannot start with key [redacted]" in page.one(class_="message").words
    assert SECRET not in junit.read_text(encoding="utf-8") + html.read_text(encoding="utf-8")


def test_with_strict_a_warning_is_a_failure_in_the_reports(tmp_path: Path) -> None:
    junit, html = tmp_path / "junit.xml", tmp_path / "report.html"
    noisy = {"command": sys.executable, "args": ["-S", str(SERVERS / "plain.py"), "prints_banner"]}

    done = check("--strict", "--junit", str(junit), "--html", str(html), config={"mcpServers": {"noisy": noisy}})

    assert done.returncode == 1
    assert [failure.get("type") for failure in ET.parse(junit).iter("failure")] == ["warning"]
    assert parse(html.read_text(encoding="utf-8")).one("h1").words == "1 of 1 server failed"


def test_a_file_that_cannot_be_written_exits_2_and_costs_neither_the_other_nor_the_lines(tmp_path: Path) -> None:
    html = tmp_path / "report.html"

    done = check("--junit", str(tmp_path / "none" / "junit.xml"), "--html", str(html), config=[])

    assert (done.returncode, done.stdout) == (2, "no servers\n")
    assert done.stderr == f"mcp-launch: {tmp_path}/none/junit.xml: No such file or directory\n"
    assert html.exists()


posix = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and limits are those of POSIX")


@posix
@pytest.mark.parametrize("option", ["--html", "--junit"])
def test_a_report_that_fails_during_writing_leaves_the_old_one(option: str, tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text("old")
    many = json.dumps([{"name": f"server-{number}"} for number in range(50)])
    # A file may have no more than a block, so that the write fails in its middle as on a full disk. Bytecode is not
    # written, because it would be cut off too, and later processes would fail to read it.
    command = f'ulimit -f 1; exec "{sys.executable}" -B -m mcp_launch check {option} "{report}" -'

    done = subprocess.run(
        ["/bin/sh", "-c", command], input=many, capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (2, f"mcp-launch: {report}: File too large\n")
    assert report.read_text() == "old"
    assert [*tmp_path.iterdir()] == [report]


@posix
def test_a_new_report_keeps_the_mode_and_link_of_the_old_one(tmp_path: Path) -> None:
    old, link, new = tmp_path / "below" / "old.html", tmp_path / "link.html", tmp_path / "junit.xml"
    old.parent.mkdir()
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to(old)
    (tmp_path / "like").touch()

    check("--html", str(link), "--junit", str(new), config=[])

    assert link.is_symlink()
    assert parse(old.read_text(encoding="utf-8")).one("h1").words == "No servers"
    assert old.stat().st_mode & 0o777 == 0o640
    # The mode of any other new file.
    assert new.stat().st_mode == (tmp_path / "like").stat().st_mode
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["below", "junit.xml", "like", "link.html", "old.html"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a full device")
def test_a_report_can_be_written_to_a_stream_or_a_device(tmp_path: Path) -> None:
    done = run_python("-m", "mcp_launch", "check", "--junit", "/dev/stdout", "--html", "/dev/full", "-", stdin="[]")

    lines, _, xml = done.stdout.partition("<?xml")
    assert (done.returncode, lines) == (2, "no servers\n")
    assert ET.fromstring(f"<?xml{xml}").tag == "testsuites"
    assert done.stderr == "mcp-launch: /dev/full: No space left on device\n"


@posix
def test_a_report_can_be_written_to_the_file_that_standard_output_is(tmp_path: Path) -> None:
    file = tmp_path / "all.txt"
    command = f'"{sys.executable}" -m mcp_launch check --html /dev/stdout - > "{file}"; echo end >> "{file}"'

    subprocess.run(["/bin/sh", "-c", command], input="[]", text=True, timeout=60, check=True)

    assert "<h1>" in file.read_text(encoding="utf-8")
    assert file.read_text(encoding="utf-8").endswith("end\n")


@posix
def test_a_file_that_can_be_written_to_but_not_replaced_is_written_to(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    folder, file = tmp_path / "closed", tmp_path / "closed" / "report.html"
    folder.mkdir()
    file.write_text("old")
    folder.chmod(0o555)

    done = check("--html", str(file), config=[])

    folder.chmod(0o755)
    assert (done.returncode, parse(file.read_text(encoding="utf-8")).one("h1").words) == (0, "No servers")


def test_a_file_that_is_mounted_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr("os.replace", refuse)
    report = CheckReport(ok=True, servers=[], findings=[], unusable=[])
    write_files(report, junit=None, html=str(file), source="-", when=datetime.now(UTC), strict=False)

    assert parse(file.read_text(encoding="utf-8")).one("h1").words == "No servers"
    assert [*tmp_path.iterdir()] == [file]


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

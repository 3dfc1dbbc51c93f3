"""The command `acp-bindings view`: what it writes, where, and the exit status."""

import re
import stat
import sys
import webbrowser
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.acp_bindings.check.test_command import run
from tests.acp_bindings.view.recordings import TURN


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.ndjson"
    path.write_bytes(b"".join(TURN))
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs that would be opened in a browser."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def test_a_page_is_written_to_a_file(file: Path, opened: list[str]) -> None:
    page = file.with_suffix(".html")
    assert run("view", str(file), "--html", str(page)) == (0, f"{page}\n", "")
    assert "Who are you?" in page.read_text(encoding="utf-8")
    assert opened == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.parametrize("before", [False, True])
def test_only_the_user_can_read_the_file(file: Path, before: bool) -> None:
    page = file.with_suffix(".html")
    if before:
        page.write_bytes(b"old")
        page.chmod(0o644)
    run("view", str(file), "--html", str(page))
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_a_page_never_replaces_its_recording(file: Path) -> None:
    link = file.with_suffix(".html")
    link.symlink_to(file)
    for out in (file, link):
        status, printed, told = run("view", str(file), "--html", str(out))
        assert (status, printed) == (2, "")
        assert told == f"acp-bindings view: {out}: this is the recording; give another file for the page\n"
    assert file.read_bytes() == b"".join(TURN)


def test_a_page_that_cannot_be_written_names_its_file(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "missing" / "talk.html"
    status, printed, told = run("view", str(file), "--html", str(out))
    assert (status, printed) == (2, "")
    assert told == f"acp-bindings view: {out}: it cannot be written: No such file or directory\n"


def test_a_page_is_written_to_standard_output(file: Path, opened: list[str]) -> None:
    status, page, told = run("view", "-", "--html", "-", given=file.read_bytes())
    assert (status, told, opened) == (0, "", [])
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")


def test_without_options_a_temporary_file_is_opened(
    file: Path, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    status, printed, _ = run("view", str(file))
    page = Path(printed.strip())
    assert (status, page.parent, page.suffix) == (0, tmp_path, ".html")
    assert Path(unquote(urlsplit(opened[0]).path)) == page.resolve()
    # Others must not read the conversation.
    assert stat.S_IMODE(page.stat().st_mode) & 0o077 == 0


def test_opening_can_be_chosen(file: Path, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run("view", str(file), "--no-open")[0] == 0
    assert opened == []
    page = tmp_path / "page.html"
    assert run("view", str(file), "--html", str(page), "--open")[0] == 0
    assert opened == [page.as_uri()]


def test_an_input_without_messages_exits_2_and_writes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    status, printed, told = run("view", "-", "--html", str(page), given=b"# Title\n\nText\n")
    assert (status, printed, page.exists()) == (2, "", False)
    assert told.startswith("acp-bindings view: -: it is not a recording")


@pytest.mark.parametrize("options", [[], ["--serve"]])
def test_a_missing_file_exits_2(tmp_path: Path, options: list[str]) -> None:
    missing = tmp_path / "##[error]missing.ndjson"
    told = f"acp-bindings view: {tmp_path}/## [error]missing.ndjson: it cannot be read: No such file or directory\n"
    assert run("view", str(missing), *options) == (2, "", told)


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"# Title\n\nText\n", "it is not a recording"),
        (b"[\n%b,\n%b]\n" % (TURN[0], TURN[1]), "--serve needs one message on each line"),
        (b"", ""),
        (b'{"time": "2026-11-27T11:45:49Z", "from": "agent", "stderr": "loading"}\n', ""),
        (b'{"time": "2026-11-27T11:45:49Z", "from": "agent", "message": "Welcome"}\n', ""),
        (TURN[0], ""),
        (TURN[0][:20], ""),
    ],
)
def test_only_recordings_are_served(file: Path, content: bytes, refusal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupt)
    file.write_bytes(content)
    status, printed, told = run("view", str(file), "--serve")
    assert (status, printed[:17]) == ((2, "") if refusal else (0, "http://127.0.0.1:"))
    assert told.startswith(f"acp-bindings view: {file}: {refusal}" if refusal else "")


@pytest.mark.parametrize("options", [["FILE", "--serve", "--html", "page.html"], ["-", "--serve"]])
def test_serving_excludes_a_page_and_standard_input(options: list[str]) -> None:
    status, _, told = run("view", *options)
    assert status == 2
    assert "--serve needs a FILE" in told


def test_the_policy_allows_only_the_code_of_the_page(file: Path) -> None:
    _, page, _ = run("view", str(file), "--html", "-")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy is not None
    assert script is not None
    assert style is not None
    hashes = [f"'sha256-{b64encode(sha256(each[1].encode()).digest()).decode()}'" for each in (script, style)]
    assert policy[1] == (
        f"default-src 'none'; script-src {hashes[0]}; style-src {hashes[1]}; img-src data:; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"\b(https?|wss?)://", script[1] + style[1])
    assert not re.search(r'\s(on\w+|style|src)="', page)


def test_the_name_of_the_file_is_text(tmp_path: Path) -> None:
    file = tmp_path / "a&b\u202e.ndjson"
    file.write_bytes(b"".join(TURN))
    _, page, _ = run("view", str(file), "--html", "-")
    assert "<title>a&amp;b\\u202e.ndjson · conversation</title>" in page

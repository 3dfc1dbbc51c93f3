"""The page in Chromium. These tests are skipped if Chromium or playwright is not installed."""

import base64
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.view import LiveView, page_of
from tests.acp_bindings.view.recordings import (
    TURN,
    as_line,
    at,
    chunk,
    end_of_turn,
    event,
    line,
    opening,
    prompt,
    update,
)

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
sync_api: Any = pytest.importorskip("playwright.sync_api", reason="the group `pictures` (playwright) is not installed")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed; CHROMIUM names another executable"),
]

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A tab, with everything in it that must not happen."""

    def __init__(self, browser: Any, *, width: int = 1280, **options: Any) -> None:
        self.tab = browser.new_page(viewport={"width": width, "height": 800}, **options)
        self.requests: list[str] = []
        self.incidents: list[str] = []
        self.tab.on("request", self._note(self.requests, "url"))
        self.tab.on("console", self._note(self.incidents, "text"))
        self.tab.on("pageerror", self._note(self.incidents, "message"))
        self.tab.on("dialog", self._note(self.incidents, "message"))

    @staticmethod
    def _note(notes: list[str], name: str) -> Callable[[Any], None]:
        return lambda event: notes.append(getattr(event, name))


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open the page of a recording. Afterwards, it must have asked for nothing and complained about nothing."""
    opened: list[tuple[Watched, str]] = []

    def open_it(lines: list[bytes], *, name: str = "talk.ndjson", **options: Any) -> Any:
        page = tmp_path / f"{len(opened)}.html"
        page.write_text("".join(page_of(lines, name=name)), encoding="utf-8")
        watched = Watched(browser, **options)
        opened.append((watched, page.as_uri()))
        watched.tab.goto(page.as_uri())
        watched.tab.wait_for_selector(".row")
        return watched.tab

    yield open_it
    for watched, url in opened:
        assert ({*watched.requests}, watched.incidents) == ({url}, [])
        watched.tab.close()


def labels(tab: Any) -> list[str]:
    return [plain(each) for each in tab.locator(".row .label").all_inner_texts()]


def plain(text: str) -> str:
    return " ".join(text.split()).replace("\N{MULTIPLICATION SIGN}", "x")


def wait_for_text(tab: Any, selector: str, text: str | re.Pattern[str]) -> None:
    sync_api.expect(tab.locator(selector)).to_have_text(text, timeout=30000)


def chosen(tab: Any) -> str:
    return plain(tab.locator(".row[aria-selected=true] .label").inner_text())


def test_requests_are_joined_with_their_responses_and_chunks_with_each_other(open_page: Open) -> None:
    tab = open_page(TURN)
    assert labels(tab) == [
        "initialize version 1 · editor 1 version 1 · Aria 2 20 ms",
        "session/new /home/ada s1 1.50 s",
        "session/prompt Who are you?",
        "agent message x3 I am the engine.",
        "session/prompt end_turn 3.00 s",
    ]
    assert tab.locator("#figures").inner_text() == "9 messages · 1 session · 5.00 s · ACP v1"
    assert tab.locator("#verdict").inner_text() == "Nothing wrong"


def test_a_second_response_belongs_to_no_request(open_page: Open) -> None:
    tab = open_page([*TURN, end_of_turn(6000, 2)])
    assert labels(tab)[-2:] == [
        "session/prompt end_turn 3.00 s",
        'response to nothing {"stopReason":"end_turn"} lifecycle.unasked',
    ]


def test_a_click_opens_a_message_with_all_that_was_sent(open_page: Open) -> None:
    large = as_line(jsonrpc="2.0", id="n", method="_count", params={"number": 12345678901234567890, "float": 1})
    tab = open_page([*TURN, large.replace(b"1}}", b"1.0}}")])
    tab.locator(".row", has_text="_count").click()
    panel = tab.locator("#panel").inner_text()
    assert '"number": 12345678901234567890,' in panel
    assert '"float": 1.0' in panel
    assert "does not contain the response" in panel
    tab.locator(".row", has_text="agent message").click()
    assert tab.locator("#panel .prose").inner_text() == "I am the engine."
    assert tab.locator("#panel summary").all_inner_texts() == [
        "line 6 · +< 1 ms",
        "line 7 · +100 ms",
        "line 8 · +200 ms",
    ]


def test_the_scale_has_whole_numbers(open_page: Open) -> None:
    tab = open_page([*opening(), chunk(85_000, "Hello")])
    tab.evaluate(
        "const pen = CanvasRenderingContext2D.prototype, fill = pen.fillText;"
        "pen.fillText = function (text, ...rest) { document.title += `|${text}`; fill.call(this, text, ...rest); }; 0"
    )
    tab.set_viewport_size({"width": 1270, "height": 800})
    sync_api.expect(tab).to_have_title(re.compile(r"\|40 s\|50 s\|1 min\|1 min 10 s\|1 min 20 s$"), timeout=30000)


def test_a_diff_has_the_names_of_its_files(open_page: Open) -> None:
    content = [
        {"type": "diff", "path": "/a", "newText": ""},
        {"type": "diff", "changes": [{"operation": "add", "path": "/b"}, {"operation": "delete", "path": "/c"}]},
    ]
    tab = open_page([*opening(), update(3000, "tool_call", toolCallId="c", title="Write", content=content)])
    assert "[diff of /a] [diff of /b, /c]" in labels(tab)[-1]


def test_the_output_of_a_terminal_is_text(open_page: Open) -> None:
    def sent(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    end: dict[str, Any] = {"command": "make", "exitStatus": {"exitCode": 2}, "output": {"data": sent("no rule → stop")}}
    tab = open_page(
        [
            *opening(),
            update(3000, "terminal_output_chunk", terminalId="t", data=sent("no rule ")),
            update(3001, "terminal_output_chunk", terminalId="t", data=sent("→ stop")),
            update(3002, "terminal_update", terminalId="t", **end),
        ]
    )
    chunks, ended = labels(tab)[-2:]
    assert chunks.startswith("terminal output x2 no rule → stop ")
    assert ended.startswith("terminal make · exit status 2 · no rule → stop ")
    tab.locator(".row", has_text="make").click()
    assert tab.locator("#panel .prose").inner_text() == "no rule → stop"


def test_findings_are_marked_and_lead_to_their_place(open_page: Open) -> None:
    wrong = line(9000, "agent", id=9, method="fs/read_text_file", params={"sessionId": "s1", "path": "notes.txt"})
    many = [update(6000 + each, "plan", entries=[]) for each in range(100)]
    tab = open_page([*TURN[:-1], *many, wrong])
    assert tab.locator("#verdict").inner_text() == "2 errors"
    assert tab.locator(".row.error").count() == 0
    tab.locator("#panel .entry", has_text="path.file").click()
    assert chosen(tab).startswith("fs/read_text_file notes.txt no response")
    assert tab.locator(".row.error[aria-selected=true]").is_visible()
    assert tab.locator(".line.marked").all_inner_texts() == ["{", '"path": "notes.txt"']


def test_the_overview_lists_slow_and_unanswered_requests(open_page: Open) -> None:
    tab = open_page([*TURN, prompt(6000, 3, "Are you there?")])
    sections = tab.locator("#panel section")
    assert sections.locator("h2").all_inner_texts() == [
        "Findings",
        "Without a response 1",
        "Slowest requests 3",
        "Sessions 1",
        "Keys",
    ]
    assert "Are you there?" in sections.nth(1).inner_text()
    slowest = sections.nth(2).locator(".took").all_inner_texts()
    assert slowest == ["3.00 s", "1.50 s", "20 ms"]


def test_all_events_of_a_recording_are_shown(open_page: Open) -> None:
    lines = [
        event(6000, receipt={"server": "files", "event": "started"}),
        event(6001, receipt={"server": "github", "event": "failed", "code": "refused"}),
        event(6002, **{"from": "agent"}, stderr="Traceback:"),
        event(6003, **{"from": "agent"}, stderr="  no luck"),
        event(6004, finding={"line": 1, "rule": "schema.json", "severity": "error", "message": "old", "path": []}),
        event(6005, dropped={"from": "client", "bytes": 70000000}),
        event(6006, closed={"from": "client"}),
        event(6007, end={"exitStatus": 1}),
    ]
    tab = open_page([*TURN, *lines])
    assert [each.split() for each in tab.locator(".column").all_inner_texts()] == [
        ["client", "editor", "1"],
        ["agent", "Aria", "2"],
        ["MCP", "server", "files"],
        ["MCP", "server", "github"],
    ]
    assert labels(tab)[-5:] == [
        "files started",
        "github failed refused",
        "stderr x2 Traceback: no luck",
        "not recorded 70,000,000 bytes",
        "agent ended exit status 1",
    ]
    boxes = [tab.locator(".row.receipt .arrow").nth(each).bounding_box() for each in range(2)]
    assert boxes[0]["x"] == boxes[1]["x"]
    assert boxes[0]["width"] < boxes[1]["width"]


def test_a_session_at_a_time(open_page: Open) -> None:
    second = [
        prompt(5500, 4, "Again"),
        line(6000, "client", id=3, method="session/new", params={"cwd": "/tmp", "mcpServers": []}),
        line(6001, "agent", id=3, result={"sessionId": "s2"}),
        chunk(6002, "one ", session="s1"),
        chunk(6003, "two ", session="s2"),
        chunk(6004, "one", session="s1"),
        chunk(6005, "two", session="s2"),
    ]
    tab = open_page([*TURN, *second])
    assert labels(tab)[-2:] == ["agent message x2 one one", "agent message x2 two two"]
    tab.locator("#session").select_option("s2")
    assert [each.split(" ")[0] for each in labels(tab)] == ["initialize", "session/new", "agent"]
    assert labels(tab)[-1] == "agent message x2 two two"


def test_kinds_can_be_hidden(open_page: Open) -> None:
    tab = open_page([*TURN, event(6000, **{"from": "agent"}, stderr="ready")])
    assert tab.locator("#kinds label:visible").all_inner_texts() == ["Requests", "Updates", "Standard error"]
    tab.get_by_label("Requests").uncheck()
    assert labels(tab) == ["agent message x3 I am the engine.", "stderr ready"]


def test_the_search_finds_text_across_chunks_and_escapes(open_page: Open) -> None:
    tab = open_page([*TURN, prompt(6000, 3, 'say "a < b"'), prompt(6001, 4, "say nothing")])
    for text, found in (("am the eng", "agent message"), ('"A < B"', "session/prompt"), ("line", "")):
        tab.keyboard.press("Escape")
        tab.fill("#search", text)
        tab.press("#search", "Enter")
        assert tab.locator("#hits").inner_text() == ("1 place" if found else "not found")
        assert tab.locator(".row.hit").count() == bool(found)
        if found:
            assert chosen(tab).startswith(found)
            assert tab.evaluate("[...CSS.highlights.get('hit')].map(String)") == [text.lower()]


def test_keys_move_through_the_messages(open_page: Open) -> None:
    wrong = line(6000, "agent", id=9, method="fs/read_text_file", params={"sessionId": "s1", "path": "notes.txt"})
    tab = open_page([*TURN, wrong, prompt(7000, 3, "Next")])
    seen: list[str] = []
    for key in ("Home", "ArrowDown", "ArrowDown", "r", "r", "ArrowUp", "End", "p", "n"):
        tab.keyboard.press(key)
        seen.append(chosen(tab).split(" ")[0] + (" ↩" if "end_turn" in chosen(tab) else ""))
    wanted = ["initialize", "session/new", "session/prompt", "session/prompt ↩", "session/prompt", "session/new"]
    assert seen == [*wanted, "session/prompt", "fs/read_text_file", "fs/read_text_file"]
    assert tab.locator("#diagram").get_attribute("aria-activedescendant") == "row-5"
    tab.keyboard.press("Escape")
    assert tab.locator(".row[aria-selected=true]").count() == 0
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.id") == "search"


def test_an_address_with_a_line_opens_its_message(open_page: Open, tmp_path: Path) -> None:
    tab = open_page(TURN)
    tab.locator(".row", has_text="agent message").click()
    assert tab.url.endswith("#line-6")
    tab.reload()
    tab.wait_for_selector(".row[aria-selected=true]")
    assert chosen(tab) == "agent message x3 I am the engine."
    assert tab.evaluate("performance.getEntriesByType('resource').length") == 0


def test_only_rows_in_sight_are_drawn(open_page: Open) -> None:
    lines = [update(6000 + each, "plan", entries=[{"content": f"step {each}"}]) for each in range(3000)]
    tab = open_page([*TURN, *lines])
    assert tab.locator(".row").count() < 60
    assert tab.locator(".row").first.get_attribute("aria-setsize") == "3005"
    tab.locator("#diagram").focus()
    for key, row in (("End", 3004), ("Home", 0), ("End", 3004)):
        tab.keyboard.press(key)
        assert tab.locator(f"#row-{row}").is_visible()
    assert tab.locator(".row").count() < 60
    tab.locator("#timeline").click(position={"x": 1033, "y": 20})  # 7.5 of 9 seconds
    tab.wait_for_selector("#row-1504")


HOSTILE = [
    "</script><script>window.ran = 1; alert(1)</script>",
    "<img src=x onerror='window.ran = 1'><iframe src='javascript:alert(1)'></iframe>",
    "<style>*{display:none}</style><base href='http://127.0.0.1:9/'>",
    "--><!-- ]]> {{ rows }} ${alert(1)} `",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J",
    "abc\u202egnp.exe\u2066 \u200b \U000e0041 \ufeff",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_peers_has_no_effect_and_is_visible(open_page: Open, text: str) -> None:
    server = {"name": text, "command": text, "args": [text], "env": []}
    lines = [
        *opening(title=text, session=text, servers=[server]),
        prompt(2000, 2, text, session=text),
        chunk(2001, text, session=text),
        update(2002, "tool_call", session=text, toolCallId=text, title=text, kind=text, status=text),
        update(2003, text, session=text),
        update(2004, "session_info_update", session=text, title=text),
        line(2005, "agent", id=text, method=text, params={text: text}),
        line(2006, "client", id=text, error={"code": 1, "message": text}),
        event(2007, **{"from": "agent"}, stderr=text),
        event(2008, receipt={"server": text, "event": text, "message": text}),
        event(2009, end={"exitStatus": 1, "signal": text}),
        as_line(time=at(2010), **{"from": "agent"}, message=text),
    ]
    tab = open_page(lines, name=f"{text}.ndjson")
    shown = " ".join(escaped(text).split())
    assert [each for each in labels(tab) if shown in each] == labels(tab)
    for index in range(tab.locator(".row").count()):
        tab.locator(f"#row-{index}").click()
        for each in tab.locator("#panel").inner_text():
            assert each.isprintable() or each in "\n\t"
    tab.fill("#search", text)
    wait_for_text(tab, "#hits", re.compile(r"\d+ places"))
    assert tab.evaluate("window.ran") is None
    assert tab.locator("script").count() == 1
    assert tab.locator("img, iframe, base").count() == 0


def escaped(text: str) -> str:
    return "".join(
        each if each.isprintable() else f"\\u{ord(each):04x}" if ord(each) < 0x10000 else f"\\u{{{ord(each):x}}}"
        for each in text
    )


def test_writing_of_people_is_not_escaped(open_page: Open) -> None:
    text = "مرحبا שלום 👩‍👩‍👧 ❤️ naïve 日本語 \N{NO-BREAK SPACE}!"
    tab = open_page([*TURN, prompt(6000, 3, text)])
    assert tab.locator(".row").last.locator(".escape").count() == 0
    tab.locator(".row").last.click()
    assert text.replace("\N{NO-BREAK SPACE}", " ") in tab.locator("#panel").inner_text().replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_strange_messages_are_drawn(open_page: Open) -> None:
    strange: list[Any] = [
        [],
        1,
        None,
        {"jsonrpc": "2.0"},
        {"jsonrpc": "2.0", "method": 1, "id": {}},
        {"jsonrpc": "2.0", "method": "session/update", "params": None},
        {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": 1, "update": "x"}},
        {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"prompt": {"a": [None, {"text": 1}]}}},
        {"jsonrpc": "2.0", "id": 1, "result": None},
        {"jsonrpc": "2.0", "id": None, "error": "x"},
        {"jsonrpc": "2.0", "id": 3, "method": "session/new", "params": [None]},
        {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "session/request_permission",
            "params": {"options": [None], "toolCall": 1},
        },
        {"jsonrpc": "2.0", "method": "session/update", "params": {"update": {"sessionUpdate": "plan", "entries": [1]}}},
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"update": {"sessionUpdate": "tool_call", "content": 1}},
        },
    ]
    lines = [
        as_line(time=at(6000 + each), **{"from": "agent"}, message=message) for each, message in enumerate(strange)
    ]
    tab = open_page([*TURN, *lines])
    rows = tab.locator(".row").count()
    for index in range(rows):
        tab.locator(f"#row-{index}").click()
        assert tab.locator("#panel h2").inner_text() != ""
    assert rows == 5 + len(strange)


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_overflows_the_window(open_page: Open, width: int) -> None:
    lines = [*TURN, prompt(6000, 3, "word " * 500), chunk(7000, "x" * 5000), end_of_turn(9000, 3)]
    tab = open_page(lines, width=width)
    tab.locator(".row").last.click()
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.evaluate("document.querySelector('#panel').scrollWidth <= document.querySelector('#panel').clientWidth")


def test_both_schemes_have_their_colours(open_page: Open) -> None:
    colours = set[str]()
    for scheme in ("light", "dark"):
        tab = open_page(TURN, color_scheme=scheme)
        colours.add(tab.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    assert colours == {"rgb(251, 250, 247)", "rgb(23, 22, 20)"}


def test_a_growing_recording_is_followed(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "talk.ndjson"
    file.write_bytes(b"".join(TURN[:-1]))
    with LiveView(file) as view:
        watched = Watched(browser)
        tab = watched.tab
        tab.goto(view.url)
        tab.wait_for_selector("#row-3")
        wait_for_text(tab, "#live", "live")
        assert tab.locator(".row.open .badge").inner_text() == "no response"
        tab.keyboard.press("End")
        tab.keyboard.press("ArrowUp")
        assert "does not contain the response" in tab.locator("#panel").inner_text()
        with file.open("ab") as more:
            more.write(TURN[-1])
        sync_api.expect(tab.locator("#panel summary")).to_have_text(["line 5", "line 9"], timeout=30000)
        tab.keyboard.press("Escape")
        with file.open("ab") as more:
            more.writelines(update(6000 + each, "plan", entries=[]) for each in range(200))
        # It was at the end, so it follows.
        tab.wait_for_selector("#row-204")
        assert tab.locator("#figures").inner_text() == "209 messages · 1 session · 6.20 s · ACP v1"
        file.write_bytes(TURN[0])
        wait_for_text(tab, "#figures", re.compile("^1 message "))
        assert {*watched.requests} == {view.url, f"{view.url}events"}
        assert [each for each in watched.incidents if "ERR_" not in each] == []
        tab.close()

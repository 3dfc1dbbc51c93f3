"""The HTML page: its content, that it is self-contained, and that text from servers stays text."""

from __future__ import annotations

import itertools
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any, get_args

import pytest

from mcp_launch._advice import ADVICE
from mcp_launch._command.show import html
from mcp_launch.failures import Code
from mcp_launch.report import CheckReport, ServerReport
from tests.acp_bindings.view.test_colours import colours, contrast
from tests.mcp_launch.show.page import Element, parse
from tests.mcp_launch.show.reports import WHEN, failed, finding, report, tool, works

STYLE = files("acp_bindings._reports").joinpath("page.css").read_text(encoding="utf-8")
NASTY = "</title></style><script>alert(1)</script><img src=x onerror='alert(2)'>\"'`{{ 7 * 7 }}{% raw %}&lt;&#60;<!--"


def written(found: CheckReport, *, source: str = "servers.json", strict: bool = False) -> str:
    return html.page(found, source=source, when=WHEN, strict=strict)


def page(*servers: ServerReport, strict: bool = False) -> Element:
    return parse(written(report(*servers), strict=strict))


def everything() -> Element:
    """Return a page with everything that a page can contain."""
    return page(works("files"), works("old", warnings=["is deprecated"]), failed("broken"))


@pytest.mark.parametrize(
    ("servers", "verdict"),
    [
        ([], "No servers"),
        ([works()], "The server works"),
        ([works(), works("other")], "All 2 servers work"),
        ([works(), failed()], "1 of 2 servers failed"),
        ([failed()], "1 of 1 server failed"),
    ],
)
def test_the_page_begins_with_its_verdict(servers: list[ServerReport], verdict: str) -> None:
    found = page(*servers)

    assert found.one("h1").words == verdict
    assert found.one("head").one("title").words == f"{verdict} · servers.json"


def test_the_first_reason_stands_above_the_timeline() -> None:
    found = page(works("a"), failed("b", message="printed nothing"), failed("c"))

    (first,) = found.one("header", class_="head").all(class_="first")
    assert (first.words, first.one("a").attributes["href"]) == ("b: printed nothing", "#server-2")
    assert page(works()).all(class_="first") == []


def test_the_figures_count_all_servers() -> None:
    found = page(works("a", counts={"tools": 3, "resources": 2}), works("b", counts={"tools": 1}), failed(elapsed=1.5))

    figures = {each.one("dt").words: each.one("dd").words for each in found.one("dl", class_="figures").all("div")}
    assert figures == {"working": "2", "failed": "1", "tools": "4", "resources": "2", "in all": "1.5 s"}


def test_a_failure_has_its_code_message_advice_and_facts() -> None:
    facts: dict[str, Any] = {
        "stderr": ["starting", "no key"],
        "exit_code": 1,
        "stdout": [],
        "body": "",
        "jsonrpc_error": {"code": -32000},
    }
    found = page(failed(message="exited with status 1; no key", elapsed=1.5, facts=facts)).one(class_="failure")

    assert found.one(class_="code").words == "exited in handshake after 1.5 s"
    assert found.one(class_="message").words == "exited with status 1; no key"
    assert found.one(class_="try").words == f"What to try. {ADVICE['exited']}"
    own = page(failed(advice="Is its name right?")).one(class_="failure")
    assert own.one(class_="try").words == "What to try. Is its name right?"
    assert {row.one("th").words: row.one("td").text for row in found.one("table").all("tr")} == {
        "stderr": "starting\nno key",
        "exit code": "1",
        "stdout": "[]",
        "body": "empty",
        "jsonrpc error": '{"code": -32000}',
    }


def test_a_working_server_has_its_description_and_tools() -> None:
    tools = [tool("read", "Read a file.\n\nAll of it."), tool("list")]
    found = page(works(tools=tools, warnings=["is deprecated", "wrote a log"])).one("article")

    about = {each.one("dt").words: each.one("dd").words for each in found.one("dl", class_="about").all("div")}
    assert found.one("h3").words == "files"
    assert about == {
        "Command": "/usr/bin/files-mcp",
        "Calls itself": "Files 1.2.0",
        "MCP": "2025-06-18, by initialize",
        "Stages": "spawn 10 ms, handshake 500 ms, list 40 ms",
        "Offers": "2 tools, 1 prompt",
    }
    assert [each.words for each in found.one(class_="warnings").all("li")] == [
        "Warning. is deprecated",
        "Warning. wrote a log",
    ]
    listed = found.one("details", class_="tools", open="")
    assert listed.one("summary").words == "2 tools"
    assert [[cell.text for cell in row.all("th", "td")] for row in listed.one("tbody").all("tr")] == [
        ["read", "Read a file.\n\nAll of it."],
        ["list", "no description"],
    ]
    assert found.one("pre").text == '{\n  "tools": {\n    "listChanged": true\n  }\n}'


def test_findings_are_at_their_server_or_before_all() -> None:
    findings = [
        finding(None, "is not read", level="note"),
        finding("other", "is not started"),
        finding("files", "${A} is not set"),
    ]
    found = parse(written(report(works("files", warnings=["is slow"]), findings=findings)))

    assert [each.words for each in found.one("section", class_="files warnings").all("li")] == [
        "Note. f.json:2:3: is not read [unset_variable]",
        "Warning. f.json:2:3: other: is not started [unset_variable]",
    ]
    assert [each.words for each in found.one("article").one(class_="warnings").all("li")] == [
        "Warning. f.json:2:3: ${A} is not set [unset_variable]",
        "Warning. is slow",
    ]


def test_the_legend_has_the_stages_that_occur() -> None:
    found = page(works("a", counts={"resource_templates": 2}))

    assert [each.words for each in found.one(class_="legend").all("li")] == ["spawn", "handshake", "list"]
    assert "2 resource templates" in found.words


def test_a_server_with_warnings_has_failed_with_strict() -> None:
    servers = (works("fine"), works("old", warnings=["is deprecated"]), failed("broken", warnings=["is deprecated"]))

    lenient, strict = (page(*servers, strict=strict) for strict in (False, True))

    assert lenient.one("h1").words == "1 of 3 servers failed"
    assert strict.one("h1").words == "2 of 3 servers failed"
    old = strict.all("article")[1]
    assert "is-failed" in old.classes
    assert old.one("header").words == "old failed stdio, 550 ms"
    assert old.one(class_="warnings").words == "With --strict a warning is a failure. Warning. is deprecated"
    assert [row.one(class_="outcome").words for row in strict.one(class_="timeline").one("tbody").all("tr")] == [
        "works",
        "failed, with 1 warning",
        "failed in handshake: exited",
    ]
    assert [article.one(class_="warnings").words for article in lenient.all("article")[1:]] == [
        "Warning. is deprecated",
        "Warning. is deprecated",
    ]
    # A server that failed has failed without --strict too.
    assert strict.all("article")[2].one(class_="warnings").words == "Warning. is deprecated"


def test_an_invalid_entry_is_listed_too() -> None:
    found = page(failed("3rd", transport=None, target=None, code="invalid_spec", stage="spec", elapsed=0.0, seconds={}))

    assert found.one("article").one("header").words == "3rd failed no transport, 0 ms"
    assert found.one("table", class_="facts").one("caption").words == "Facts"


@pytest.mark.parametrize("code", get_args(Code))
def test_every_code_has_its_advice(code: Code) -> None:
    assert ADVICE[code] in page(failed(code=code)).one(class_="try").words


def hostile(text: str) -> CheckReport:
    """Return a report in which a server chose every text except ours."""
    more: Any = {
        "target": text,
        "server": {"name": text, "version": text},
        "protocol_version": text,
        "warnings": [text],
    }
    return report(
        works(text, capabilities={text: text}, tools=[tool(text, text), tool(text)], **more),
        failed(text, message=text, facts={text: text, f"{text}s": [text], f"{text}t": {text: 1}}, **more),
    )


def test_text_of_servers_does_not_change_the_elements() -> None:
    harmless, nasty = parse(written(hostile("x"), source="x")), parse(written(hostile(NASTY), source=NASTY))

    first, second = ([(each.tag, list(each.attributes)) for each in page] for page in (nasty, harmless))
    assert first == second
    assert nasty.one("head").one("title").text.endswith(f"· {NASTY}")
    assert [each.text for each in nasty.all("h3")] == [NASTY, NASTY]
    assert nasty.one(class_="message").text == NASTY
    assert nasty.one("pre").text.count("<script>") == 2


def test_text_cannot_reorder_hide_or_break_the_page() -> None:
    text = written(hostile("a\u202eb\u200bc\ud800d\x00e\x1b[31mf"), source="\ud800")

    assert not re.search("[\u202e\u200b\ud800\x00\x1b]", text)
    assert r"a\u202eb\u200bc\ud800d\x00e\x1b[31mf" in text
    text.encode()


def test_text_of_servers_has_an_isolated_direction() -> None:
    found = parse(written(hostile("\u05d0"), source="\u05d0"))

    isolated = {id(inner) for each in found.all("bdi") for inner in (each, *each)}
    holders = [each for each in found if any(isinstance(part, str) and "\u05d0" in part for part in each.parts)]
    assert {each.tag for each in holders if id(each) not in isolated} == {"title", "th"}  # names of facts are ours


def test_ids_are_unique_and_every_link_has_its_target() -> None:
    found = everything()
    ids = [each.attributes["id"] for each in found if "id" in each.attributes]
    links = [each.attributes["href"] for each in found.all("a")]
    labels = [each.attributes["aria-labelledby"] for each in found if "aria-labelledby" in each.attributes]

    assert len(ids) == len(set(ids))
    assert {*links, *(f"#{label}" for label in labels)} <= {f"#{each}" for each in ids}
    assert {"#server-1", "#server-3", "#all", "#failed", "#warned", "#works"} <= set(links)


def test_the_page_needs_no_scripts_or_other_files() -> None:
    found = everything()

    assert not found.all("script", "img", "iframe", "object", "embed", "form", "base", "video", "audio")
    names = {name for each in found for name in each.attributes}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "srcset", "style", "action"}
    assert [each.attributes["href"] for each in found.all("link")] == ["data:,"]
    assert all(each.attributes["href"].startswith("#") for each in found.all("a"))
    assert not re.search(r"url\(|@import|expression|//", STYLE)
    assert "</" not in STYLE


def test_the_policy_of_the_page_allows_its_own_style_and_nothing_else() -> None:
    found = everything()
    digest = b64encode(sha256(found.one("style").text.encode()).digest()).decode()
    policy = found.one("meta", http_equiv="Content-Security-Policy").attributes["content"]

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    # It would not apply to anything before it.
    assert [each.tag for each in found.one("head")][:2] == ["meta", "meta"]


def test_the_bars_of_all_servers_have_one_scale() -> None:
    found = page(works(seconds={"spawn": 0.25, "handshake": 0.75}), failed(seconds={"spawn": 1.0}, elapsed=4.0))

    bars = [
        [(rect.attributes["class"], rect.attributes["x"], rect.attributes["width"]) for rect in row.all("rect")]
        for row in found.one("section", class_="timeline").one("tbody").all("tr")
    ]
    assert bars == [
        [("stage-spawn", "0.000%", "6.250%"), ("stage-handshake", "6.250%", "18.750%")],
        [("stage-spawn", "0.000%", "25.000%"), ("stage-failed", "25.000%", "75.000%")],
    ]
    assert [(text.text, text.attributes["x"]) for text in found.all("text")] == [
        ("0", "0.000%"),
        ("1 s", "25.000%"),
        ("2 s", "50.000%"),
        ("3 s", "75.000%"),
        ("4 s", "100.000%"),
    ]


def test_bars_can_be_distinguished_without_styles() -> None:
    found = page(works(seconds={"connect": 0.1, "handshake": 0.2, "list": 0.3}), failed(seconds={}))

    fills = [rect.attributes["fill"] for rect in found.one("section", class_="timeline").one("ul").all("rect")]
    assert len(set(fills)) == len(fills) == 4


def test_bars_have_descriptions_in_words() -> None:
    labels = [each.attributes["aria-label"] for each in everything().all("svg", role="img")]

    assert labels == [
        "spawn 10 ms, handshake 500 ms, list 40 ms",
        "spawn 10 ms, handshake 500 ms, list 40 ms",
        "spawn 250 ms, failed in handshake 1.2 s",
    ]


def test_the_page_is_usable_with_a_screen_reader() -> None:
    found = everything()

    assert found.one("html").attributes["lang"] == "en"
    assert len(found.all("h1")) == len(found.all("main")) == len(found.all("footer")) == len(found.all("nav")) == 1
    levels = [int(each.tag[1]) for each in found.all("h1", "h2", "h3", "h4")]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for table in found.all("table"):
        assert table.one("caption").words
        assert all(cell.attributes["scope"] in ("row", "col") for cell in table.all("th"))
    landmarks = [
        each.attributes.get("aria-label") or each.attributes["aria-labelledby"] for each in found.all("section", "nav")
    ]
    assert len(set(landmarks)) == len(landmarks)
    for svg in found.all("svg"):
        assert svg.attributes.get("aria-hidden") == "true" or svg.attributes["aria-label"]
    first = next(each for each in found.one("body"))
    assert (first.tag, first.attributes["href"]) == ("a", "#servers")


@pytest.mark.parametrize(("kind", "shown"), [("failed", ["broken"]), ("warned", ["old"]), ("works", ["files", "old"])])
def test_a_filter_leaves_the_servers_of_its_kind(kind: str, shown: list[str]) -> None:
    found = everything()

    hides = f"#{kind}:target ~ section .entry:not(.is-{kind})"
    assert re.search(rf"{re.escape(hides)}[^{{}}]*{{\s*display: none;\s*}}", STYLE)
    for tag in ("tr", "article"):
        entries = [each for each in found.all(tag) if "entry" in each.classes]
        left = [each.all("bdi")[0].words for each in entries if f"is-{kind}" in each.classes]
        assert (len(entries), left) == (3, shown)
    main = [part for part in found.one("main").parts if isinstance(part, Element)]
    places = {each.attributes.get("id", each.attributes.get("class")): place for place, each in enumerate(main)}
    assert places[kind] < min(places["filters"], places["timeline"], places["servers"])


def test_filters_are_shown_only_if_servers_differ() -> None:
    assert not page(works("a"), works("b")).all("nav")
    assert [each.words for each in page(works("a"), failed()).one("nav").all("a")] == ["All 2", "Failed 1", "Working 1"]


def test_a_report_of_a_hundred_servers_with_a_thousand_tools_can_be_read() -> None:
    many = [tool(f"tool_{number}", f"Do number {number}.") for number in range(1000)]
    text = written(report(*(works(f"server {number}", tools=many if number < 3 else []) for number in range(100))))

    found = parse(text)
    assert len(found.all("article")) == 100
    assert len([row for row in found.all("tr") if not row.classes]) == 3 * 1000 + 3 + 1
    assert not [each for each in found.all("details") if "open" in each.attributes]
    assert len(text) < 1_500_000


def test_a_long_description_is_folded() -> None:
    tools = [tool("long", "word " * 200), tool("two", "first\n" + "second " * 200)]
    found = page(works(tools=tools))

    long, two = [row.one("details") for row in found.one("details", class_="tools").one("tbody").all("tr")]
    assert len(long.one("summary").text) <= 161
    assert long.one(class_="text").text == ("word " * 200).strip()
    assert two.one("summary").text == "first…"


TEXTS = ("ink", "soft", "bad", "care", "good", "link")
STAGES = ("begin", "handshake", "list", "late", "failed")
SURFACES = ("surface", "raised")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_has_enough_contrast(scheme: str) -> None:
    found = colours(STYLE, scheme)
    # WCAG 2.2, 1.4.3 for text and 1.4.11 for what is drawn.
    least = {name: 4.5 if name in TEXTS else 3.0 for name in (*TEXTS, *STAGES)}
    ratios = {(name, surface): contrast(found[name], found[surface]) for name in least for surface in SURFACES}

    assert found.keys() == {*TEXTS, *STAGES, *SURFACES, "rule"}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < least[pair[0]]} == {}


def test_only_colours_with_tested_contrast_are_used() -> None:
    rules = STYLE.partition("* {")[2]
    used = re.findall(r"\b(?:color|fill|stroke|background|[\w-]*border[\w-]*|outline): ([^;]+);", rules)

    assert not [value for value in used if "#" in value or "rgb" in value]
    named = {name for value in used for name in re.findall(r"var\(--(\w+)\)", value)}
    assert named <= {*TEXTS, *STAGES, *SURFACES, "rule"}
    assert not re.findall(r"^\s*color: var\(--(?!ink|soft|bad|care|good|link)", rules, re.MULTILINE)

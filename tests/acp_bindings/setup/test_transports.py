"""An unknown transport type, or one that does not match the members: the error names the intended one."""

from typing import Any

import pytest

from acp_bindings._problems.transports import type_fault

URL, COMMAND = {"url": "https://example.com/mcp"}, {"command": "/usr/bin/files-mcp"}


@pytest.mark.parametrize(
    "entry",
    [
        COMMAND,
        {},
        {"type": None} | COMMAND,
        {"type": "stdio"} | COMMAND,
        {"type": "stdio"},
        {"type": "stdio"} | COMMAND | URL,
        {"type": "http"} | URL,
        {"type": "http"} | URL | COMMAND,
        {"type": "http"},
        {"type": "sse"} | URL,
        {"type": "acp"},
    ],
)
def test_a_matching_type_has_no_fault(entry: dict[str, Any]) -> None:
    assert type_fault(entry) is None


@pytest.mark.parametrize("name", ["htpp", "HTTP", "https", "streamable-http", "streamableHttp", "streamable", "remote"])
def test_other_names_of_http_are_recognized(name: str) -> None:
    fault = type_fault({"type": name})
    assert fault
    assert (fault.meant, fault.unknown) == ("http", True)
    assert fault.message == (
        f'"{name}" is not a transport; the transports are stdio, http and sse; did you mean "http"?'
    )


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ({"type": "studio"}, "stdio"),
        ({"type": "local"}, "stdio"),
        ({"type": "SSE"}, "sse"),
        ({"type": "x"} | COMMAND, "stdio"),
        ({"type": "htpp"} | COMMAND, "http"),
        ({"type": 5} | URL, "http"),
        ({"type": "x", "url": 5}, "http"),
        ({"type": "x", "url": "HTTPS://example.com/sse?a"}, "sse"),
        ({"type": "x", "url": "example.com/ssedition"}, "http"),
        ({"type": "ws", "url": "wss://example.com/sse"}, None),
        ({"type": "pigeon"}, None),
    ],
)
def test_the_spelling_or_the_fields_suggest_the_intended_type(entry: dict[str, Any], meant: str | None) -> None:
    fault = type_fault(entry)
    assert fault
    assert (fault.meant, fault.unknown) == (meant, True)
    assert ("did you mean" in fault.message) == (meant is not None)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (URL, 'without a type it is read as stdio; write "type": "http"'),
        ({"url": "https://example.com/sse"}, 'without a type it is read as stdio; write "type": "sse"'),
        ({"url": "https://example.com/sse/"}, 'without a type it is read as stdio; write "type": "sse"'),
        ({"type": "stdio"} | URL, 'stdio has a command and no url; did you mean "http"?'),
        ({"type": "http"} | COMMAND, 'http has a url and no command; did you mean "stdio", which v1 writes'),
    ],
)
def test_a_type_that_contradicts_the_fields_is_reported(entry: dict[str, Any], told: str) -> None:
    fault = type_fault(entry)
    assert fault
    assert not fault.unknown
    assert fault.message.startswith(told)


@pytest.mark.parametrize("tag", ["two words", "x" * 41, "\x1b[31m", "", {"a": "secret123"}])
def test_a_type_that_is_not_a_short_word_is_not_shown(tag: object) -> None:
    fault = type_fault({"type": tag})
    assert fault
    assert fault.message.startswith("this is not a transport")

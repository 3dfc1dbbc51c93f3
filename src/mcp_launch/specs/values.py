"""Finds values that the schema allows, but that no process or HTTP request can have. Never quotes a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from mcp_launch.specs import ServerSpec, StdioServer
from mcp_launch.specs.issues import Issue, issue_at, whose
from mcp_launch.wording import Wording

__all__ = ["value_issues"]

_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_URL = re.compile(r"https?://(?P<path>[^?#]*)", re.IGNORECASE)
_NOT_IN_HEADERS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def value_issues(spec: ServerSpec, wording: Wording) -> Iterator[Issue]:
    """The values that no process or HTTP request can have."""
    if isinstance(spec, StdioServer):
        yield from _process_issues(spec, wording)
        return
    yield from _url_issues(spec.url)
    for number, (name, value) in enumerate(spec.headers):
        if not _HEADER_NAME.fullmatch(name):
            colon = "; leave out the colon" if _HEADER_NAME.fullmatch(name.removesuffix(":")) else ""
            yield issue_at(f"/headers/{number}/name", "value", f"is not the name of an HTTP header{colon}")
        if _NOT_IN_HEADERS.search(value):
            message = f"must not contain line breaks or control characters{whose(name)}"
            yield issue_at(f"/headers/{number}/value", "value", message)


def _process_issues(spec: StdioServer, wording: Wording) -> Iterator[Issue]:
    if not spec.command or "\0" in spec.command:
        yield issue_at("/command", "value", "must be the path of a program")
    elif found := _URL.match(spec.command):
        kind = "sse" if found["path"].endswith("/sse") else "http"
        yield issue_at("/command", "value", f"is a URL, and no program: give it as {wording.given(kind)}")
    for number, arg in enumerate(spec.args):
        if "\0" in arg:
            yield issue_at(f"/args/{number}", "value", "must not contain NUL")
    for number, (name, value) in enumerate(spec.env):
        if not name or "=" in name or "\0" in name:
            value_in = '; what stands behind the "=" is its value' if name.find("=") > 0 else ""
            yield issue_at(f"/env/{number}/name", "value", f"is not the name of an environment variable{value_in}")
        if "\0" in value:
            yield issue_at(f"/env/{number}/value", "value", f"must not contain NUL{whose(name)}")


def _url_issues(url: str) -> Iterator[Issue]:
    if _CONTROL.search(url):
        yield issue_at("/url", "value", "must not contain spaces or control characters")
        return
    try:
        parts = urlsplit(url)
    except ValueError:
        yield issue_at("/url", "value", "is not a URL")
        return
    try:
        _ = parts.port
    except ValueError:
        yield issue_at("/url", "value", "has a port that is no number from 0 to 65535")
        return
    if parts.scheme not in ("http", "https"):
        instead = f", not with {parts.scheme}://" if parts.scheme and "://" in url else ""
        yield issue_at("/url", "value", f"must start with http:// or https://{instead}")
    elif not parts.hostname:
        yield issue_at("/url", "value", "has no host")

"""Proposes other URLs, transports and headers for a server that is connected to."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from acp_bindings._http import is_loopback
from acp_bindings._lazy import closest
from mcp_launch._command.fix.draft import Draft, Remedy, each_value, renamed
from mcp_launch._command.fix.packages import Package
from mcp_launch.config._edit import Edit
from mcp_launch.config._formats.map import MapFormat


def other_transport(draft: Draft) -> Iterator[Remedy]:
    """Propose the other transport."""
    other = "http" if draft.server.get("type") == "sse" else "sse"
    if draft.url and (edits := draft.speak(other)) is not None:
        yield Remedy(what=f"use the transport {other}", edits=edits)


def other_paths(draft: Draft) -> Iterator[Remedy]:
    """Propose other paths of the URL."""
    parts = _parts(draft.url)
    if parts is None:
        return
    path = parts.path.rstrip("/")
    parent = path.rpartition("/")[0]
    paths = [path + "/mcp", parent + "/mcp", "/mcp", path + "/sse", parent + "/sse", "/sse"]
    if path.endswith("/sse"):
        paths = [parent + "/mcp", *paths]
    elif path.endswith("/mcp"):
        paths = [parent + "/sse", *paths]
    toggled = parts.path[:-1] if parts.path.endswith("/") else f"{parts.path}/"
    for each in dict.fromkeys([*([toggled] if path else ()), *paths, parent]):
        if each in (parts.path, path) and each != toggled:
            continue
        yield from _url(draft, parts._replace(path=each), f"use the path {each or '/'}")


def _parts(url: str) -> SplitResult | None:
    """Return the parts of a URL; None if a variable may be among them."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    is_plain = "$" not in parts.netloc + parts.path and "%" not in parts.netloc and parts.hostname
    return parts if is_plain and parts.scheme in ("http", "https") else None


def _url(draft: Draft, parts: SplitResult, what: str) -> Iterator[Remedy]:
    url = parts.geturl()
    transport = "sse" if parts.path.rstrip("/").endswith("/sse") else "http"
    kinds = draft.speak(transport, url) if draft.server.get("type") != transport else ()
    if kinds is not None:
        yield Remedy(what=what, edits=(Edit(draft.at(draft.name_of("url")), url), *kinds))


def other_origin(draft: Draft) -> Iterator[Remedy]:
    """Propose the other scheme, or another name of this machine. Headers never go to another host, nor unencrypted."""
    parts = _parts(draft.url)
    if parts is None:
        return
    if draft.code == "redirected":
        target = _parts(str(draft.failure["facts"].get("location", "")))
        if target and target.hostname == parts.hostname and (target.scheme == "https" or parts.scheme == "http"):
            query = target._replace(query=target.query or parts.query)
            yield from _url(draft, query, "use the URL of the redirect")
        return
    if parts.scheme == "http" and draft.code in ("tls", "not_mcp", "http_error", "disconnected"):
        yield from _url(draft, parts._replace(scheme="https"), "use https")
    if not is_loopback(parts.hostname or ""):
        return
    if parts.scheme == "https":
        yield from _url(draft, parts._replace(scheme="http"), "use http")
    port = f":{parts.port}" if parts.port else ""
    for host in ("127.0.0.1", "[::1]", "localhost"):
        if host.strip("[]") != parts.hostname:
            yield from _url(draft, parts._replace(netloc=f"{host}{port}"), f"use the host {host}")


def credentials(draft: Draft) -> Iterator[Remedy]:
    """Propose the usual name and form of a header with a token."""
    called = draft.name_of("headers")
    for at, name, value in each_value(draft.at(called), draft.raw.get(called)):
        near = closest(name.lower(), ("authorization", "x-api-key"), cutoff=0.75)
        meant = {"authorization": "Authorization", "x-api-key": "X-API-Key"}.get(near or "", name)
        if near and near != name.lower():
            yield Remedy(what=f"rename the header {name} to {meant}", edits=(renamed(at, meant),))
        if near == "authorization" and isinstance(value, str) and len(value.split()) == 1:
            yield Remedy(what="write Bearer before the token", edits=(Edit(at, f"Bearer {value}"),))


def through_program(draft: Draft) -> Iterator[Remedy]:
    """Propose a program that connects to the URL, for a client that only starts programs."""
    if isinstance(draft.form, MapFormat) and draft.form.transports == ("stdio",) and draft.command.startswith("http"):
        package = Package("npm", "mcp-remote")
        args = ["-y", package.name, draft.command, *draft.args]
        yield draft.run("npx", args, f"connect with {package}", beyond=str(package), package=package)

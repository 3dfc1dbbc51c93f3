"""The message in a line of a recording: bare, or in a wrapper that tells who sent it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, get_args

from pydantic_core import from_json, to_json

from acp_bindings._json.shapes import members_of
from acp_bindings.errors import Path
from acp_bindings.setup.capabilities import Side


class Line(NamedTuple):
    """A message without the wrapper of the recorder."""

    text: bytes
    """The message as JSON, or what stands in its place."""
    value: Any
    """The message, parsed; None where it is no JSON."""
    sender: Side | None
    """Who sent it, where the wrapper tells."""
    at: Path
    """The path to it in the line."""


def is_message(value: Any) -> bool:
    """Whether this is a message of JSON-RPC, or meant as one."""
    members = members_of(value)
    return (
        "jsonrpc" in members
        or isinstance(members.get("method"), str)
        or ("id" in members and not members.keys().isdisjoint(("result", "error")))
    )


def unwrap(text: bytes, value: Any) -> Line:
    """The message in a line that may have a wrapper, such as `{"direction": "client", "message": …}`.

    The direction, by one of several names, begins with the sender: `client`, `client->agent`, `fromAgent`. The message,
    by any name, is an object, or its line as text. What is no such wrapper is itself the message.
    """
    wrapper = members_of(value)
    if "jsonrpc" in wrapper:
        return Line(text, value, None, ())
    said = next((wrapper[each] for each in ("direction", "from", "dir", "sender") if each in wrapper), None)
    told = isinstance(said, str)
    for name, inner in wrapper.items():
        # Without a direction only what calls itself a message makes a wrapper: parameters have members of any kind.
        meant = told and name == "message"
        if isinstance(inner, str) and (meant or _MESSAGE.match(inner)):
            line = _parsed(inner.encode(errors="surrogatepass"))
        elif meant or "jsonrpc" in members_of(inner):
            line = Line(to_json(inner), inner, None, ())
        else:
            continue
        return line._replace(sender=_side(said) if isinstance(said, str) else None, at=(name,))
    return Line(text, value, None, ())


_MESSAGE = re.compile(r'\s*\{.{0,100}"jsonrpc"', re.DOTALL)


def _parsed(text: bytes) -> Line:
    try:
        return Line(text, from_json(text), None, ())
    except ValueError:
        return Line(text, None, None, ())


def _side(said: str) -> Side | None:
    plain = said.strip().lower().removeprefix("from").strip(" _-:")
    return next((each for each in get_args(Side) if plain.startswith(each)), None)

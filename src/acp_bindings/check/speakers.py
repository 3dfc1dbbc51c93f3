"""Who says a line: what a wrapper around it says, or else what its method and its id tell."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json, to_json

from acp_bindings.check.shapes import members_of
from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Path
from acp_bindings.jsonrpc import CANCEL
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.versions import PACKAGES, package_named

if TYPE_CHECKING:
    from acp_bindings.check.talk import Asked, Talk

SIDES: tuple[Side, ...] = ("client", "agent")
OTHER: dict[Side, Side] = {"client": "agent", "agent": "client"}


class Line(NamedTuple):
    """A message, out of what a recorder has put around it."""

    text: bytes
    """The message as JSON, or what stands for it."""
    value: Any
    """The message, parsed; None where it is no JSON."""
    sender: Side | None
    """Who says it, where the wrapper tells."""
    at: Path
    """The way to it in the line."""


def is_message(value: Any) -> bool:
    """Whether this is a message of JSON-RPC, or meant as one."""
    members = members_of(value)
    return (
        "jsonrpc" in members
        or isinstance(members.get("method"), str)
        or ("id" in members and not members.keys().isdisjoint(("result", "error")))
    )


def unwrap(text: bytes, value: Any) -> Line:
    """The message in a line that may have a wrapper: `{"direction": "client", "message": …}`, whatever its names are.

    The direction begins with `client` or `agent`, for the one who sends: `client`, `client->agent`, `fromAgent`.
    The message is an object, or the line of it as text. What is no such wrapper is the message itself.
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
    return next((each for each in SIDES if plain.startswith(each)), None)


def sender_of(value: Any, talk: Talk) -> Side | None:
    """Who says a message without a wrapper, as far as that can be told.

    A method is called by the side that does not handle it. A response is of the side that was asked with its id; where
    both were, of the one to whose method the result fits, or else of the one that was asked last.
    """
    message = members_of(value)
    if isinstance(method := message.get("method"), str):
        if method == CANCEL and "params" in message:
            id_: Any = members_of(message["params"]).get("requestId")
            return next((side for side in SIDES if talk.open_request(side, id_)), None)
        handlers = _handlers(method, asks="id" in message)
        return OTHER[handlers[0]] if len(handlers) == 1 else None
    asked: list[tuple[Side, Asked]] = [
        (side, open_) for side in SIDES if (open_ := talk.open_request(side, message.get("id")))
    ]
    if len(asked) > 1 and message.get("result") is not None:
        asked = [each for each in asked if _fits(message["result"], each[1].result)] or asked
    return OTHER[max(asked, key=lambda each: each[1].line)[0]] if asked else None


@lru_cache(maxsize=1000)
def _handlers(method: str, *, asks: bool) -> list[Side]:
    """The sides that handle a method, in any of the protocol packages."""
    known = [found for name in PACKAGES if (found := package_named(name).METHODS.get(method))]
    meant = [type_ for each in known if (type_ := each.request if asks else each.notification)]
    # It may be the wrong kind of message, which is said elsewhere.
    types = meant or [type_ for each in known for type_ in (each.request, each.notification) if type_]
    handled = {type_.side for type_ in types}
    return [side for side in SIDES if handled.intersection((side, "both", "protocol"))]


def _fits(result: Any, type_: Any) -> bool:
    try:
        decode(type_, to_json(result), strict=True)
    except DecodeError:
        return False
    return True

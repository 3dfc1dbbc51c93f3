"""The sender of a message, by its method or its id, where no wrapper tells."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from acp_bindings._json.shapes import members_of
from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.versions import PACKAGES, package_named

if TYPE_CHECKING:
    from acp_bindings.check.conversation import Asked, Conversation

SIDES: tuple[Side, ...] = ("client", "agent")
OTHER: dict[Side, Side] = {"client": "agent", "agent": "client"}


def sender_of(value: Any, conversation: Conversation) -> Side | None:
    """The sender of a message without a wrapper; None where it cannot be told.

    A method is called by the side that does not handle it. A response comes from the side that was sent a request with
    its id. If both were, it comes from the one whose method has such a result, or else from the one asked last.
    """
    message = members_of(value)
    if isinstance(method := message.get("method"), str):
        handlers = _handlers(method, asks="id" in message)
        return OTHER[handlers[0]] if len(handlers) == 1 else None
    asked: list[tuple[Side, Asked]] = [
        (side, open_) for side in SIDES if (open_ := conversation.open_request(side, message.get("id")))
    ]
    if len(asked) > 1 and message.get("result") is not None:
        asked = [each for each in asked if _fits(message["result"], each[1].result)] or asked
    return OTHER[max(asked, key=lambda each: each[1].line)[0]] if asked else None


@lru_cache(maxsize=1000)
def _handlers(method: str, *, asks: bool) -> list[Side]:
    """The sides that handle a method in any of the protocol packages."""
    known = [found for name in PACKAGES if (found := package_named(name).METHODS.get(method))]
    meant = [type_ for each in known if (type_ := each.request if asks else each.notification)]
    # A request in place of a notification, or the other way round, is a mistake that rules find.
    types = meant or [type_ for each in known for type_ in (each.request, each.notification) if type_]
    handled = {type_.side for type_ in types}
    return [side for side in SIDES if handled.intersection((side, "both"))]


def _fits(result: Any, type_: Any) -> bool:
    try:
        decode(type_, to_json(result), strict=True)
    except DecodeError:
        return False
    return True

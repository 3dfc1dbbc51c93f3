"""Explain exceptions of the SDK for which the transport has no explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_launch._diagnosis import NEWER, UNSUPPORTED_VERSION, Diagnosis, advised
from mcp_launch.failures import InvalidResult

# The SDK has no exception classes for these, so they are recognized by their text.
_UNSUPPORTED = "Unsupported protocol version from the server: "
_IN_VAIN = re.compile(r"[\w/]+ was not answered")
# Every request accepts both types.
_NOT_ACCEPTED, _ACCEPT = "Not Acceptable: Client must accept", "does a proxy in front of it change the header Accept?"
_MANY = 1000
"""The number of errors in a response above which none is named."""


def diagnose_session(error: Exception | None, *, waited: float | None) -> Diagnosis:
    """Return why a session failed; `waited` is the number of seconds of the budget that was exceeded, if one was."""
    if waited is not None:
        return Diagnosis("timeout", f"did not answer within {waited:.1f} s")
    for leaf in _leaves(error):
        if (found := _meaning(leaf)) is not None:
            return found
    kinds = ", ".join(type(leaf).__name__ for leaf in _leaves(error)) or "no exception"
    return Diagnosis("failed", f"failed for an unknown reason ({kinds})")


def server_answered(error: Exception | None) -> bool:
    """Return True if the server responded, with an error or with something that the SDK could not read."""
    return any(_is_answer(leaf) for leaf in _leaves(error))


def invalid_field(error: ValidationError) -> tuple[str, str]:
    """Return the path of the first invalid field of a response, and what is wrong with it.

    The path is empty if there are very many errors.
    """
    if (count := error.error_count()) > _MANY:
        # Listing them takes a kilobyte for each.
        return "", f"it has {count:,} errors"
    errors = error.errors(include_url=False)
    # Content has the errors of every class that it could have. Those of classes with another type do not matter.
    wrong_types = [e for e in errors if e["loc"][-1:] == ("type",) and any(map(_names_class, e["loc"][-2:-1]))]
    other_classes = {e["loc"][:-1] for e in wrong_types}
    relevant = [e for e in errors if not any(e["loc"][:end] in other_classes for end in range(len(e["loc"])))]
    first = (relevant or wrong_types)[0]
    wrong = first["msg"][:1].lower() + first["msg"][1:]
    if first["type"] == "model_type":
        # pydantic's message would name a Python class.
        wrong = "must be an object"
    elif not relevant and isinstance(first["input"], str):
        wrong = f"unknown type {first['input']!r}"
    return "/".join(str(part) for part in first["loc"] if not _names_class(part)), wrong


def _names_class(part: int | str) -> bool:
    # Members of MCP begin with a small letter.
    return str(part)[:1].isupper()


def is_closed(error: MCPError) -> bool:
    """Return True if the SDK reports a closed connection; many servers use the same code for any error."""
    return error.code == CONNECTION_CLOSED and error.message.startswith(("Connection closed", "SSE stream "))


def is_timeout(error: MCPError) -> bool:
    """Return True if the SDK or the probe timed out; servers use the same code, also for timeouts of others."""
    # The SDK raises it in the handler of a TimeoutError, which `_Redacting` makes its cause, because the context may
    # change when it is raised again. A server that forwards such an error has the same message.
    here = error.__cause__ or error.__context__
    was_here = isinstance(here, TimeoutError) or _IN_VAIN.match(error.message) is not None
    return error.code == REQUEST_TIMEOUT and was_here


def _is_answer(leaf: BaseException) -> bool:
    match leaf:
        case MCPError():
            return not (is_timeout(leaf) or is_closed(leaf))
        case RuntimeError():
            return str(leaf).startswith(_UNSUPPORTED)
        case _:
            return isinstance(leaf, ValidationError | InvalidResult)


def _meaning(leaf: BaseException) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
    match leaf:
        case ValidationError() | InvalidResult():
            field, wrong = invalid_field(leaf) if isinstance(leaf, ValidationError) else (leaf.path, leaf.reason)
            where = f"{field}: " if field else ""
            message = f"sent a response that is not valid MCP: {where}{wrong}; {NEWER}"
            return Diagnosis("invalid_response", message, {"field": field} if field else {})
        case MCPError() if is_closed(leaf):
            return Diagnosis("disconnected", "the connection was closed")
        case MCPError(message=message) if is_timeout(leaf):
            return Diagnosis("timeout", message)
        case MCPError(code=code, message=message):
            event, facts = f'refused: "{message}" ({code})', {"jsonrpc_error": {"code": code, "message": message}}
            if UNSUPPORTED_VERSION.search(message):
                return Diagnosis("unsupported_version", f"{event}; {NEWER}", facts)
            if message.startswith(_NOT_ACCEPTED):
                return advised("rejected", event, _ACCEPT, facts)
            return Diagnosis("rejected", event, facts)
        case RuntimeError() if str(leaf).startswith(_UNSUPPORTED):
            version, known = str(leaf).removeprefix(_UNSUPPORTED), list(HANDSHAKE_PROTOCOL_VERSIONS)
            supported = f"supported versions are {', '.join(known)}"
            message = f'speaks MCP version "{version}"; {supported}; {NEWER}'
            return Diagnosis("unsupported_version", message, {"server": version, "supported": known})
        case _:
            return None


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the exceptions in a group and its subgroups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error

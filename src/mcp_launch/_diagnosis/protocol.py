"""What the SDK's exceptions mean, where the transport below it saw nothing wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_launch._diagnosis import Diagnosis
from mcp_launch.failures import InvalidResult

# The SDK has no own exceptions for these, so that they are recognised by their text.
_UNSUPPORTED = "Unsupported protocol version from the server: "
_IN_VAIN = re.compile(r"^Request '[^']*' timed out$|^[\w/]+ was not answered")

_MANY = 1000
"""Errors of one answer, of which none is named."""


def diagnose_session(error: Exception | None, *, waited: float | None) -> Diagnosis:
    """Why a session could not be used; `waited` are the seconds of the budget that was used up, if one was."""
    if waited is not None:
        return Diagnosis("timeout", f"did not answer within {waited:.1f} s")
    for leaf in _leaves(error):
        if (found := _meaning(leaf)) is not None:
            return found
    kinds = ", ".join(type(leaf).__name__ for leaf in _leaves(error)) or "no exception"
    return Diagnosis("failed", f"failed for a reason that is not known here ({kinds})")


def server_answered(error: Exception | None) -> bool:
    """Whether the server said something that was an error or that the SDK could not read."""
    return any(_is_answer(leaf) for leaf in _leaves(error))


def invalid_field(error: ValidationError) -> tuple[str, str]:
    """The path of the first field of a response that is not valid MCP, and what is wrong with it.

    The path is empty if very many fields are not valid.
    """
    if (count := error.error_count()) > _MANY:
        # Each of them takes a kilobyte when they are listed.
        return "", f"it is wrong in {count:,} places"
    first = error.errors(include_url=False, include_input=False)[0]
    # pydantic's message, except where it would name a Python class.
    is_class = first["type"] == "model_type"
    wrong = "must be an object" if is_class else first["msg"][:1].lower() + first["msg"][1:]
    return "/".join(str(part) for part in first["loc"]), wrong


def is_closed(error: MCPError) -> bool:
    """Whether the SDK says that the connection is closed; many servers use the same code for all that they refuse."""
    return error.code == CONNECTION_CLOSED and error.message.startswith(("Connection closed", "SSE stream "))


def is_timeout(error: MCPError) -> bool:
    """Whether the SDK or the probe got no answer in time; servers use the same code, often for a lost session."""
    return error.code == REQUEST_TIMEOUT and _IN_VAIN.search(error.message) is not None


def _is_answer(leaf: BaseException) -> bool:
    match leaf:
        case MCPError():
            return not (is_timeout(leaf) or is_closed(leaf))
        case RuntimeError():
            return str(leaf).startswith(_UNSUPPORTED)
        case _:
            return isinstance(leaf, ValidationError | InvalidResult)


def _meaning(leaf: BaseException) -> Diagnosis | None:
    match leaf:
        case ValidationError() | InvalidResult():
            field, wrong = invalid_field(leaf) if isinstance(leaf, ValidationError) else (leaf.path, leaf.reason)
            where = f"{field}: " if field else ""
            message = f"gave an answer that is not valid MCP: {where}{wrong}; is there a newer release of it?"
            return Diagnosis("invalid_response", message, {"field": field} if field else {})
        case MCPError() if is_closed(leaf):
            return Diagnosis("disconnected", "the connection was closed")
        case MCPError(message=message) if is_timeout(leaf):
            return Diagnosis("timeout", message)
        case MCPError(code=code, message=message):
            facts = {"jsonrpc_error": {"code": code, "message": message}}
            return Diagnosis("rejected", f'refused: "{message}" ({code})', facts)
        case RuntimeError() if str(leaf).startswith(_UNSUPPORTED):
            version, known = str(leaf).removeprefix(_UNSUPPORTED), list(HANDSHAKE_PROTOCOL_VERSIONS)
            message = f'speaks MCP version "{version}"; known are {", ".join(known)}; is there a newer release of it?'
            return Diagnosis("unsupported_version", message, {"server": version, "supported": known})
        case _:
            return None


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    """The exceptions in a group and its groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error

"""The kinds of messages that `acp_bindings.jsonrpc.Codec` reads."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias, cast

from acp_bindings._models.base import without_secrets
from acp_bindings.errors import Finding, Issue
from acp_bindings.methods import NotificationType, RequestType

__all__ = ["BadLine", "BadResponse", "ErrorResponse", "Id", "Message", "Notification", "Request", "Response"]

Id: TypeAlias = int | str | None
"""The id of a request and its response (`RequestId`). In v2 it is never null."""


class _WithoutSecrets:
    """A dataclass with secrets hidden in its `repr`, also in the JSON of an extension."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the `repr` of a dataclass, with secrets hidden."""
        names = (each.name for each in fields(cast("Any", self)) if each.repr)
        values = ((name, getattr(self, name)) for name in names)
        shown = {name: without_secrets(value) for name, value in values if name != "findings" or value}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


@dataclass(slots=True, repr=False)
class Request(_WithoutSecrets):
    """A request of the peer. Respond with `Codec.respond` or `Codec.fail`."""

    id: Id
    method: str
    params: Any
    """An object of the method's type; for an extension method, the JSON value or None."""
    type: RequestType | None = field(default=None, repr=False, compare=False)
    """The entry of the method in `METHODS`; None for an extension."""
    findings: tuple[Finding, ...] = ()
    """The tolerated errors in the params, if the codec has `findings=True`."""


@dataclass(slots=True, repr=False)
class Notification(_WithoutSecrets):
    """A notification of the peer, which has no response."""

    method: str
    params: Any
    """An object of the method's type; for an extension method, the JSON value or None."""
    type: NotificationType | None = field(default=None, repr=False, compare=False)
    """The entry of the method in `METHODS`; None for an extension."""
    findings: tuple[Finding, ...] = ()
    """The tolerated errors in the params, if the codec has `findings=True`."""


@dataclass(slots=True, repr=False)
class Response(_WithoutSecrets):
    """The result of our request."""

    id: Id
    method: str
    result: Any
    """An object of the method's type; for an extension method, the JSON value."""
    findings: tuple[Finding, ...] = ()
    """The tolerated errors in the result, if the codec has `findings=True`."""


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """The error response to our request."""

    id: Id
    method: str | None
    """None, like the id, if the peer could not read our line and so does not know the request."""
    error: Any
    """The `Error` of the package, with code, message and data."""


@dataclass(frozen=True, slots=True)
class BadResponse:
    """An invalid response to our request. There will be no other response."""

    id: Id
    method: str
    message: str
    issues: tuple[Issue, ...] = ()
    """The errors in the result or in the error, with paths relative to it."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """An invalid line. If there is a `reply`, send it, and continue with the next line."""

    code: int
    """The error code of JSON-RPC."""
    message: str
    reply: bytes | None
    """The error response to send; None for notifications and responses."""
    method: str | None = None
    issues: tuple[Issue, ...] = ()
    """The errors in the params, with paths relative to them; or in the `id` of a response without an open request."""


Message: TypeAlias = Request | Notification | Response | ErrorResponse | BadResponse | BadLine

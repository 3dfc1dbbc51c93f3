"""The messages that one line of JSON-RPC may hold, as `acp_bindings.jsonrpc.Codec` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias, cast

from acp_bindings._models.base import without_secrets
from acp_bindings.errors import Finding, Issue
from acp_bindings.methods import NotificationType, RequestType

__all__ = ["BadLine", "BadResponse", "ErrorResponse", "Id", "Message", "Notification", "Request", "Response"]

Id: TypeAlias = int | str | None
"""The id of a request and of its response (`RequestId`); in v2 it is never null."""


class _WithoutSecrets:
    """A dataclass whose `repr` shows no secrets, also none in the plain JSON of an extension."""

    __slots__ = ()

    def __repr__(self) -> str:
        """As a dataclass shows itself, with secrets hidden."""
        names = (each.name for each in fields(cast("Any", self)) if each.repr)
        values = ((name, getattr(self, name)) for name in names)
        shown = {name: without_secrets(value) for name, value in values if name != "findings" or value}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


@dataclass(slots=True, repr=False)
class Request(_WithoutSecrets):
    """The peer asks for something, and waits for `Codec.respond` or `Codec.fail`."""

    id: Id
    method: str
    params: Any
    """An object of the method's type; of an extension method the JSON value as it came, or None."""
    type: RequestType | None = field(default=None, repr=False, compare=False)
    """The method as `METHODS` has it; None for an extension."""
    findings: tuple[Finding, ...] = ()
    """What reading the params excused, if the codec has `findings=True`."""


@dataclass(slots=True, repr=False)
class Notification(_WithoutSecrets):
    """The peer says something, and wants no answer."""

    method: str
    params: Any
    """An object of the method's type; of an extension method the JSON value as it came, or None."""
    type: NotificationType | None = field(default=None, repr=False, compare=False)
    """The method as `METHODS` has it; None for an extension."""
    findings: tuple[Finding, ...] = ()
    """What reading the params excused, if the codec has `findings=True`."""


@dataclass(slots=True, repr=False)
class Response(_WithoutSecrets):
    """The result of a request of ours."""

    id: Id
    method: str
    result: Any
    """An object of the method's type; of an extension method the JSON value as it came."""
    findings: tuple[Finding, ...] = ()
    """What reading the result excused, if the codec has `findings=True`."""


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """The error that the peer answered a request of ours with."""

    id: Id
    method: str | None
    """None, as is the id, when the peer could not read a line of ours, and so does not know which request it was."""
    error: Any
    """The package's `Error`: code, message, data."""


@dataclass(frozen=True, slots=True)
class BadResponse:
    """A response to a request of ours that cannot be used. No other will come."""

    id: Id
    method: str
    message: str
    issues: tuple[Issue, ...] = ()
    """What is wrong in the result or the error, with the paths from there on."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be acted on. Send `reply`, where there is one, and go on."""

    code: int
    """The error code of JSON-RPC for what is wrong."""
    message: str
    reply: bytes | None
    """The answer that is due. Notifications and responses get none."""
    method: str | None = None
    issues: tuple[Issue, ...] = ()
    """What is wrong in the params, with the paths from there on; or in the `id` of a response to no open request."""


Message: TypeAlias = Request | Notification | Response | ErrorResponse | BadResponse | BadLine

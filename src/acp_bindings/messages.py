"""What one line of JSON-RPC may say, as `acp_bindings.jsonrpc.Codec` reads it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias, cast

from acp_bindings._models.shown import without_secrets
from acp_bindings.errors import Finding, Issue
from acp_bindings.methods import NotificationType, RequestType

Id: TypeAlias = int | str | None
"""What matches a response with its request (`RequestId`); v2 has no null."""


class _Discreet:
    """Its `repr` shows no secrets, which an extension may carry too."""

    __slots__ = ()

    def __repr__(self) -> str:
        """That of a dataclass, but for the secrets."""
        names = (each.name for each in fields(cast("Any", self)) if each.repr)
        values = ((name, getattr(self, name)) for name in names)
        shown = {name: without_secrets(value) for name, value in values if name != "findings" or value}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


@dataclass(slots=True, repr=False)
class Request(_Discreet):
    """The peer asks for something, and waits for `Codec.respond` or `Codec.fail`."""

    id: Id
    method: str
    params: Any
    """An object of the method's type; of an extension method the JSON value as it came, or None."""
    type: RequestType | None = field(default=None, repr=False, compare=False)
    """The method as `METHODS` has it; None for an extension."""
    findings: tuple[Finding, ...] = ()
    """What reading the params excused, for a codec that is asked to tell."""


@dataclass(slots=True, repr=False)
class Notification(_Discreet):
    """The peer says something, and wants no answer."""

    method: str
    params: Any
    """An object of the method's type; of an extension method the JSON value as it came, or None."""
    type: NotificationType | None = field(default=None, repr=False, compare=False)
    """The method as `METHODS` has it; None for an extension."""
    findings: tuple[Finding, ...] = ()
    """What reading the params excused, for a codec that is asked to tell."""


@dataclass(slots=True, repr=False)
class Response(_Discreet):
    """The result of a request of ours."""

    id: Id
    method: str
    result: Any
    """An object of the method's type; of an extension method the JSON value as it came."""
    findings: tuple[Finding, ...] = ()
    """What reading the result excused, for a codec that is asked to tell."""


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """A request of ours failed over there."""

    id: Id
    method: str | None
    """None, and the id too, when the peer could not read a line of ours and so cannot say which."""
    error: Any
    """The package's `Error`: code, message, data."""


@dataclass(frozen=True, slots=True)
class BadResponse:
    """A request of ours was answered with what is no answer to it. No other will come."""

    id: Id
    method: str
    message: str
    issues: tuple[Issue, ...] = ()
    """What is wrong in the result or the error, with the paths from there on."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be acted on. Send `reply`, where there is one, and go on."""

    code: int
    """What is wrong, as JSON-RPC numbers it."""
    message: str
    reply: bytes | None
    """The answer that is due. Notifications and responses get none."""
    method: str | None = None
    issues: tuple[Issue, ...] = ()
    """What is wrong in the params, with the paths from there on; or in the `id` of an answer to nothing."""


Message: TypeAlias = Request | Notification | Response | ErrorResponse | BadResponse | BadLine

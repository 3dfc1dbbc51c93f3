"""Which messages may come before and after `initialize`; no I/O, for either side and for onlookers.

It is fed with everything that goes over the connection, in order: by a client or an agent as it sends and receives, or
by what reads a recording.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

from acp_bindings.jsonrpc import CANCEL
from acp_bindings.messages import BadResponse, ErrorResponse, Id, Message, Notification, Request, Response
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import InitializedAlready, NotInitialized

Phase: TypeAlias = Literal["new", "initializing", "ready"]
"""Before `initialize`, while it is being answered, and after that."""

_INITIALIZE = frozenset({"initialize", "proxy/initialize"})


class Lifecycle:
    """The beginning of a connection: `initialize` first, answered, and then everything else.

        lifecycle = Lifecycle()
        lifecycle.see("client", request)  # raises where the request may not come now
        lifecycle.see("agent", response)

    A failed `initialize` leaves everything as it was, so that it may come again. When it was settled it may be repeated
    in v1; in v2 only before any other request, and only by a client that has got its answer.
    """

    def __init__(self) -> None:
        """A connection on which nothing has been said."""
        self.phase: Phase = "new"
        self.version: int | None = None
        """The version that `initialize` has settled on."""
        self._open: Id | None = None
        self._asked = False

    @property
    def is_ready(self) -> bool:
        """Whether any message may come."""
        return self.phase == "ready"

    def check(self, method: str, *, sender: Side = "client") -> None:
        """Refuse a message that may not come now. Nothing changes.

        Args:
            method: its method, of a request or of a notification.
            sender: who sends it.

        Raises:
            NotInitialized: `initialize` is not settled. To a request an agent answers with the code of the error
                (-32600), a notification it ignores.
            InitializedAlready: `initialize` comes again when it could no more.
        """
        if method == CANCEL:
            return
        if method not in _INITIALIZE or sender == "agent":
            if self.phase != "ready":
                raise NotInitialized(method)
        elif self.phase == "initializing":
            raise InitializedAlready("while it was being answered")
        elif self.version is not None and self.version > 1 and self._asked:
            raise InitializedAlready("after other requests")

    def request(self, method: str, id: Id, *, sender: Side = "client") -> None:  # noqa: A002
        """Take into account that *sender* sends a request. Arguments and errors are those of `check`."""
        self.check(method, sender=sender)
        if sender == "client" and method in _INITIALIZE:
            self.phase, self._open = "initializing", id
        elif sender == "client":
            self._asked = True

    def response(self, id: Id, *, sender: Side = "agent", version: int | None = None) -> None:  # noqa: A002
        """Take into account that *sender* answers the request *id*.

        Args:
            id: that of the request.
            sender: who answers.
            version: the `protocolVersion` of the answer to `initialize`; None when that failed.
        """
        if sender != "agent" or self.phase != "initializing" or id != self._open:
            return
        if version is not None:
            self.version = version
        self.phase = "new" if self.version is None else "ready"

    def see(self, sender: Side, message: Message) -> None:
        """Take any *message* into account, as a codec reads it, untyped or typed. Errors are those of `check`."""
        match message:
            case Request(id=id_, method=method):
                self.request(method, id_, sender=sender)
            case Notification(method=method):
                self.check(method, sender=sender)
            case Response(id=id_, result=result):
                self.response(id_, sender=sender, version=_version_in(result))
            case ErrorResponse(id=id_) | BadResponse(id=id_):
                self.response(id_, sender=sender)
            case _:
                pass


def _version_in(result: Any) -> int | None:
    version: Any = (
        cast("dict[str, Any]", result).get("protocolVersion")
        if isinstance(result, dict)
        else getattr(result, "protocol_version", None)
    )
    return version if type(version) is int else None

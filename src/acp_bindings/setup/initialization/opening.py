"""The protocol before `initialize` has settled a version: any method, params and result, untyped.

    codec = Codec(OPENING, role="client")
    sent = codec.request(handshake.request(), method="initialize")
    ...
    peer = handshake.accept(response.result)
    codec.protocol = peer.protocol

Both sides have to see the version in `initialize` before they know by which types to read it. All other methods are
read too, so that an agent can answer that they came too early (`Lifecycle`), and not that there are no such methods.
"""

from __future__ import annotations

from typing import Any

from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.methods import Method, Methods, NotificationType, RequestType

INITIALIZE = "initialize"


class _Untyped(Methods):
    """Every method that there could be."""

    def __getitem__(self, name: str) -> Method:
        """The method *name*, which is for whoever gets it."""
        return Method(_request(name), _notification(name))

    def request_with(self, params: object) -> RequestType | None:
        """`initialize`, the one method whose params may be a model so early."""
        return _request(INITIALIZE) if type(params).__name__ == "InitializeRequest" else None


class _Opening:
    """A protocol package of untyped methods, with the errors and the ids of v1, which are those of v2 and null.

    So an `initialize` whose id is null is answered by that id also where it settles on v2, which has no null as an id.
    From then on a null is refused.
    """

    METHODS: Methods = _Untyped(f"{__name__}.methods", requests={}, notifications={})

    @property
    def Error(self) -> Any:  # noqa: N802
        from acp_bindings import v1  # noqa: PLC0415 - packages are loaded by those who use them

        return v1.Error

    @property
    def RequestId(self) -> Any:  # noqa: N802
        from acp_bindings import v1  # noqa: PLC0415

        return v1.RequestId


JSON = Any


def _request(name: str) -> RequestType:
    return RequestType(__name__, name, "protocol", "JSON", None)


def _notification(name: str) -> NotificationType:
    return NotificationType(__name__, name, "protocol", "JSON")


OPENING: ProtocolPackage = _Opening()
"""The protocol of a connection whose version is not settled yet."""

"""The errors of remote connections, below `acp_bindings.errors.AcpError`.

ConnectionClosed
└── Unreachable          the remote agent cannot be reached, or no longer: .code .url .status .retry_after .body
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from acp_bindings.connection.errors import ConnectionClosed

Reason: TypeAlias = Literal[
    "dns",
    "tls",
    "proxy",
    "refused",
    "timeout",
    "disconnected",
    "unauthorized",
    "forbidden",
    "not_found",
    "redirected",
    "rate_limited",
    "not_acp",
    "http_error",
]
"""Why a remote agent cannot be reached. docs/remote.md explains each."""


class Unreachable(ConnectionClosed):
    """A remote agent cannot be reached, or the connection to it was lost. The message says why, and what to try.

    `__cause__` is the exception of the network, if there is one.
    """

    def __init__(
        self,
        reason: str,
        *,
        code: Reason,
        url: str,
        status: int | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        body: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{url}: {reason}")
        self.code: Reason = code
        self.url = url
        """The URL, without user name, password and query."""
        self.status = status
        """The status of the HTTP response that ended the connection; None if there was none."""
        self.headers = headers
        """The headers of that response, without cookies."""
        self.body = body
        """The beginning of the body of that response."""
        self.retry_after = retry_after
        """Seconds after which the server asks to try again."""

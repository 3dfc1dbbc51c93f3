"""The limits of a remote agent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of what a remote agent accepts from its clients."""

    body: int = 32 * 1024 * 1024
    """Bytes of a message. A larger one is answered with 413."""
    headers: int = 32 * 1024
    """Bytes of the headers of a request. More are answered with 431."""
    buffer: int = 4 * 1024 * 1024
    """Bytes of each event stream that may wait for the client, before the agent waits too."""
    streams: int = 100
    """The streams of sessions of a connection."""
    connections: int = 1000
    """The connections of an identity. One more is answered with 429."""
    idle: float = 300.0
    """Seconds after which a connection without requests and streams is closed."""
    stall: float = 60.0
    """Seconds after which a connection is closed whose client does not read while the agent waits."""
    initialize: float = 30.0
    """Seconds for the response to `initialize`, and for the body of a request."""

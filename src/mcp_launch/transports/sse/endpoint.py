"""Where the messages of an SSE session are posted: what the event stream names, if it is on the stream's own origin."""

from __future__ import annotations

import httpx

from mcp_launch.diagnosis import Diagnosis
from mcp_launch.transports.headers import origin

__all__ = ["endpoint_of"]


def endpoint_of(named: str, *, stream: httpx.URL) -> httpx.URL | Diagnosis:
    """The endpoint, or why it is none: messages and headers go to the origin of the stream and nowhere else."""
    try:
        # With no user-info of its own, which would be sent as credentials.
        endpoint = stream.join(named).copy_with(userinfo=stream.userinfo)
        ours, theirs = origin(stream), origin(endpoint)
    except (httpx.InvalidURL, ValueError):
        return Diagnosis("not_mcp", "its event stream named an endpoint that is no URL", stage="connect")
    if ours == theirs:
        return endpoint
    message = f"its endpoint is on another origin, {theirs} instead of {ours}; nothing was sent there"
    facts = {"origin": ours, "endpoint_origin": theirs}
    return Diagnosis("cross_origin_endpoint", message, facts, stage="connect")

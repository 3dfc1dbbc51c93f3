"""The media types that MCP is written in."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EVENT_STREAM", "FORM", "JSON", "media_type"]

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
FORM = "application/x-www-form-urlencoded"


def media_type(headers: Mapping[str, str]) -> str:
    """The content type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()

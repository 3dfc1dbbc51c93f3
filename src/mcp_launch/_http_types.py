"""Media types of MCP, and the classes of httpx and httpx2, both of which are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import httpx
    import httpx2

Client: TypeAlias = "httpx.AsyncClient | httpx2.AsyncClient"
Url: TypeAlias = "httpx.URL | httpx2.URL"
Request: TypeAlias = "httpx.Request | httpx2.Request"
Response: TypeAlias = "httpx.Response | httpx2.Response"

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
FORM = "application/x-www-form-urlencoded"


def media_type(headers: Mapping[str, str]) -> str:
    """Return the content type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()

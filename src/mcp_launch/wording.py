"""How a failure says what to try: in the words of ACP, unless the servers were named in another way.

Loads nothing: the formats of config files, which are read before anything is started, have wordings of their own.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Wording"]


class Wording(NamedTuple):
    """What stands in the messages, as a part of a sentence."""

    http: str = 'set "type" to "http"'
    """What to do where a URL speaks Streamable HTTP, and is called one of SSE."""
    sse: str = 'set "type" to "sse"'
    """The other way round."""
    longer: str = "does it need longer"
    """What to ask where its time was over; a question mark or an alternative follows."""

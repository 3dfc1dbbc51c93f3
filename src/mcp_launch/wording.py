"""How a failure says what to try: in the words of ACP, unless the servers come from another kind of file.

Loads nothing: config files are read before anything is started, and each format of them has its own wording.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Wording"]


class Wording(NamedTuple):
    """Parts of sentences that the messages are made of."""

    http: str = 'set "type" to "http"'
    """What to do where a URL speaks Streamable HTTP, and the entry says SSE."""
    sse: str = 'set "type" to "sse"'
    """What to do where a URL speaks SSE, and the entry says Streamable HTTP."""
    longer: str = "does it need longer"
    """What to ask where the server took too long; a question mark or an alternative follows."""
    needs: str = 'a "command", or with a "url" and its "type"'
    """What an entry has to have; "a server must be a map with" goes before."""
    words: tuple[tuple[str, str], ...] = ()
    """The members and types that are called otherwise than in ACP, each with what it is called."""
    urls: tuple[tuple[str, str], ...] = ()
    """The transports that a URL has without a type, each with the member that then holds the URL."""

    def called(self, word: str) -> str:
        """What a member or a type of ACP is called."""
        return dict(self.words).get(word, word)

    def url_of(self, transport: str | None) -> str:
        """The member that holds the URL of a server of this transport."""
        return dict(self.urls).get(transport or "", self.called("url"))

    def given(self, transport: str) -> str:
        """As what an entry has the URL of such a server; "give it as" goes before."""
        # Where no transport needs a type, there is none to be given, also for one that the program does not have.
        form = "" if self.urls else f', with "type": "{self.called(transport)}"'
        return f'"{self.url_of(transport)}"{form}'

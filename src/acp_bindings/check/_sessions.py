"""The sessions that a recorded conversation shows, and the text in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from acp_bindings.setup._records import loosely

Author: TypeAlias = Literal["user", "agent"]

Phase: TypeAlias = Literal["loading", "known", "open", "closed"]
"""One that is only known was listed, or is of an earlier connection; one that nobody knew of before is loading."""


class Transcript:
    """The words of a conversation in their order, as a digest: however they were cut into pieces, and however long."""

    def __init__(self) -> None:
        self.turns_of_user = 0
        """How often the user began to speak, after the agent had said something or there was a `pause`."""
        self._is_users = False
        self._digest = blake2b()
        self._last: Author | None = None

    def pause(self) -> None:
        """Take it that the user has ended, whatever came there."""
        self._is_users = False

    def add(self, author: Author, text: str) -> None:
        """Take down what *author* says, or goes on to say."""
        # Chunks without words tell of something else, such as tokens, and need not be replayed.
        if author == "agent" and not text:
            return
        self.turns_of_user += author == "user" and not self._is_users
        self._is_users = author == "user"
        if author != self._last:
            self._digest.update(b"\xff" + author.encode())  # which is no part of any text
            self._last = author
        self._digest.update(text.encode(errors="surrogatepass"))

    def __eq__(self, other: object) -> bool:
        """Whether the same was said."""
        return isinstance(other, Transcript) and self._digest.digest() == other._digest.digest()

    __hash__ = None  # type: ignore[assignment]


@dataclass
class Session:
    """One session, as far as the conversation has shown it."""

    id: str
    cwd: str
    """As it was made, or listed."""
    phase: Phase
    prompted: bool = False
    """Whether a prompt in it was answered."""
    whole: bool = False
    """Whether `transcript` has all of it, because it was made on this connection."""
    transcript: Transcript = field(default_factory=Transcript)
    replay: Transcript | None = None
    """What is being replayed, while it is being loaded."""

    def prompt(self, blocks: list[Any]) -> None:
        """Take down a prompt."""
        self.transcript.add("user", "".join(map(_text, blocks)))

    def update(self, update: Any) -> None:
        """Take down an update, where it is a message."""
        author = _AUTHORS.get(update.session_update)
        if self.replay is not None and author != "user":
            # What parted two messages may have been left out, and is no message of the user that is missing.
            self.replay.pause()
        if author is None or (self.replay is None and author == "user"):  # live, this is the prompt once more
            return
        (self.replay or self.transcript).add(author, _text(update.content))


class Sessions(dict[str, Session]):
    """The sessions that a conversation has shown, by their ids, on this connection and those before."""

    def __init__(self) -> None:
        super().__init__()
        self._alike: dict[str, dict[str, None]] = {}
        """The ids of the known ones that are alike, by what they have in common."""
        self._here: set[str] = set()
        """The ids that this connection spoke of, as there may be many from before."""

    def note(self, session_id: str) -> None:
        """Take note of what this connection says of a session."""
        self._here.add(session_id)
        # One that may not come to be, as loading it may fail, hides no other.
        if self[session_id].phase != "loading":
            self._alike.setdefault(loosely(session_id), {})[session_id] = None

    def like(self, session_id: str) -> Session | None:
        """The known one with this id, or else the first whose id is like it."""
        session = self.get(session_id)
        if session is None or session.phase == "loading":
            session = next(map(self.get, self._alike.get(loosely(session_id), ())), None)
        return session

    def reconnect(self) -> None:
        """Go on to another connection, to which those that were not closed are known."""
        for id_ in self._here & self.keys():
            session = self[id_]
            if session.phase in ("known", "open"):
                session.phase, session.replay = "known", None
            else:
                del self[id_]
                self._alike.get(loosely(id_), {}).pop(id_, None)
        self._here.clear()


_AUTHORS: dict[str, Author] = {
    "user_message_chunk": "user",
    "user_message": "user",
    "agent_message_chunk": "agent",
    "agent_message": "agent",
}


def _text(block: Any) -> str:
    """The text of a block of content: that of others, and of the lists of v2, may be replayed in another form."""
    text: Any = getattr(block, "text", "")
    return text if isinstance(text, str) else ""

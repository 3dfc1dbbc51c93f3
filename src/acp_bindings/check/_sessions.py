"""The sessions of a recorded conversation, and the text in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from acp_bindings.check._turn_order import Turns

Author: TypeAlias = Literal["user", "agent"]

Phase: TypeAlias = Literal["loading", "known", "open", "closed"]
"""The state of a session. It is "known" if it was listed or is from an earlier connection.

It is "loading" if it was not known before the request that loads it.
"""


class Transcript:
    """The text of a conversation from its first prompt, as a digest of fixed size.

    How it was split does not matter, and neither does white space at the end of a message.
    """

    def __init__(self) -> None:
        self.turns_of_user = 0
        """The number of user turns. A turn begins after text of the agent, or after a `pause`."""
        self._is_users = False
        self._digest, self._of_user = blake2b(), blake2b()
        self._last: Author | None = None
        self._space = ""
        """White space that counts if the same author goes on."""

    def pause(self) -> None:
        """End the turn of the user."""
        self._is_users = False

    def add(self, author: Author, text: str) -> None:
        """Add *text* of *author*, which may continue the previous text."""
        # Chunks without text carry other data, such as tokens, and need not be replayed. What an agent reports before
        # the first prompt, such as a server that failed, may only be of interest then.
        if author == "agent" and not (text and self.turns_of_user):
            return
        self.turns_of_user += author == "user" and not self._is_users
        self._is_users = author == "user"
        if author != self._last:
            self._digest.update(b"\xff" + author.encode())  # a byte that does not occur in text
            self._last, self._space = author, ""
        kept = (self._space + text).rstrip()
        self._space = (self._space + text)[len(kept) :]
        self._digest.update(kept.encode(errors="surrogatepass"))
        if author == "user":
            self._of_user.update("".join(text.split()).encode(errors="surrogatepass"))

    def has_users_text(self, other: Transcript) -> bool:
        """Return True if the text of the user is the same, apart from white space, in any number of turns."""
        return self._of_user.digest() == other._of_user.digest()

    def __eq__(self, other: object) -> bool:
        """Return True if the text is the same."""
        return isinstance(other, Transcript) and self._digest.digest() == other._digest.digest()

    __hash__ = None  # type: ignore[assignment]


@dataclass
class Session:
    """The state of one session, as far as the conversation shows it."""

    id: str
    cwd: str
    """The directory with which it was created, loaded or listed."""
    phase: Phase
    prompted: bool = False
    """True if the agent has responded to a prompt in it."""
    whole: bool = False
    """True if `transcript` is what a replay must have: all of a new session that has accepted each prompt."""
    is_comparable: bool = True
    """False if `transcript` may be replayed as other text or in another order, because of one of the prompts."""
    transcript: Transcript = field(default_factory=Transcript)
    replay: Transcript | None = None
    """The replayed text while the session is loading."""
    message_id: str | None = None
    """The id of the last replayed message."""
    directories: tuple[str, ...] = ()
    """The working directory and the additional ones; empty if they are not known."""
    turns: Turns = field(default_factory=Turns)

    def prompt(self, blocks: list[Any]) -> None:
        """Add the text of a prompt."""
        is_text = all(getattr(each, "type", None) == "text" for each in blocks)
        self.is_comparable = self.is_comparable and is_text and len(self.turns.open_prompts) < 2
        self.transcript.add("user", "".join(map(_text, blocks)))

    def update(self, update: Any) -> None:
        """Add the text of an update, if it is a message."""
        author = _AUTHORS.get(update.session_update)
        message_id = getattr(update, "message_id", None)
        if self.replay is not None and (author != "user" or message_id != self.message_id):
            # The replay may omit what separated two messages. That is not a missing message of the user.
            self.replay.pause()
        self.message_id = message_id
        # Outside a replay, text of the user repeats the prompt. After a replay and before the next prompt, text of the
        # agent is a report, as it is before the first prompt.
        if author is None or (self.replay is None and (author == "user" or self.turns.reopened)):
            return
        # An update of another version has no content here.
        (self.replay or self.transcript).add(author, _text(getattr(update, "content", None)))


_AUTHORS: dict[str, Author] = {
    "user_message_chunk": "user",
    "user_message": "user",
    "agent_message_chunk": "agent",
    "agent_message": "agent",
}


def _text(block: Any) -> str:
    """Return the text of a text block. Other blocks, and the lists of v2, may be replayed in another form."""
    text: Any = getattr(block, "text", "")
    return text if isinstance(text, str) else ""

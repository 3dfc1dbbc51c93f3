"""A conversation for people to read: a line for each thing that is said or done, replayed or new."""

from __future__ import annotations

import os
import sys
from typing import Any


class View:
    """Prints; `replay` marks what is history."""

    def __init__(self) -> None:
        self._who = ""
        self._begun = ""
        self._titles: dict[str, str] = {}

    def note(self, who: str, text: object) -> None:
        """What somebody says, or what happens."""
        self.flush()
        for line in str(text).splitlines():
            _print(who, line)

    def update(self, update: Any, *, replay: bool) -> None:
        """What an update says; kinds that it does not know, it names."""
        mark = "| " if replay else ""
        match update.session_update:
            case "user_message_chunk":
                if replay:
                    self.note(mark + "you", _text(update.content))
            case "agent_message_chunk":
                self._stream(mark + "agent", _text(update.content))
            case "tool_call" | "tool_call_update":
                self._tool(mark + "tool", update)
            case "notice":
                self.note(mark + update.severity, update.title)
            case "state_update":
                pass
            case other:
                self.note(mark + "update", other)

    def flush(self) -> None:
        """Print what has not ended as a line."""
        if self._begun:
            _print(self._who, self._begun)
            self._begun = ""

    def _stream(self, who: str, text: str) -> None:
        if who != self._who:
            self.flush()
            self._who = who
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            _print(who, line)

    def _tool(self, who: str, update: Any) -> None:
        title = self._titles.setdefault(update.tool_call_id, update.title or "?")
        if update.status in ("completed", "failed"):
            told = " ".join(_text(each.content) for each in update.content or () if each.type == "content")
            self.note(
                who,
                f"{title} → {told.strip() or update.status}"
                if update.status == "completed"
                else f"{title} failed: {told}",
            )


def _print(who: str, line: str) -> None:
    try:
        print(f"{who:<8} {line}", flush=True)
    except BrokenPipeError:  # who reads has seen enough; what is left would be a complaint of Python's at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _text(block: Any) -> str:
    return str(block.text) if block.type == "text" else f"[{block.type}]"

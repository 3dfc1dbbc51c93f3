"""Prints a conversation for people, a line for each message and each action. History is marked with `|`."""

from __future__ import annotations

import os
import sys
from typing import Any

from acp_bindings import v1
from acp_bindings.client import PermissionQuestion, Session


class View:
    """Prints what an agent sends and asks."""

    def __init__(self, *, allow: bool) -> None:
        self._allow = allow
        self._begun = ("", "")

    def close(self) -> None:
        """Print what was streamed last."""
        self.note("", "")

    def note(self, who: str, text: object) -> None:
        """Print what happens, after what has been streamed so far."""
        (speaker, line), self._begun = self._begun, ("", "")
        lines = [(speaker, line)] if line else []
        for name, each in [*lines, *((who, each) for each in str(text).splitlines())]:
            try:
                print(f"{name:<8} {each}", flush=True)
            except BrokenPipeError:  # the reader has exited; Python would complain about the rest at its end
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def update(self, session: Session, update: Any, is_history: bool) -> None:
        """Print an update of the agent."""
        mark = "| " if is_history else ""
        match update:
            case v1.UserMessageChunk():
                if is_history:
                    self.note(f"{mark}you", _text(update.content))
            case v1.AgentMessageChunk():
                who, text = f"{mark}agent", _text(update.content)
                *lines, rest = ((self._begun[1] if self._begun[0] == who else "") + text).split("\n")
                if self._begun[0] == who:
                    self._begun = ("", "")
                self.note(who, "\n".join(lines))
                self._begun = (who, rest)
            case v1.ToolCall() | v1.SessionToolCallUpdate() if update.status in ("completed", "failed"):
                call = session.state.tool_call(update.tool_call_id)
                told = " ".join(_text(each.content) for each in update.content or () if each.type == "content")
                how = f"→ {told.strip() or update.status}" if update.status == "completed" else f"failed: {told}"
                self.note(f"{mark}tool", f"{call.title if call else '?'} {how}")
            case v1.Notice():
                self.note(f"{mark}{update.severity}", update.title)
            case v1.ToolCall() | v1.SessionToolCallUpdate() | v1.SessionInfoUpdate():
                pass
            case _ if update.session_update != "state_update":
                self.note(f"{mark}update", update.session_update)
            case _:
                pass

    def permit(self, question: PermissionQuestion) -> v1.PermissionOption | None:
        """Answer a question of the agent as the command line says."""
        chosen = question.option("allow_once" if self._allow else "reject_once")
        self.note("asked", f"{question.title} {chosen.name if chosen else 'Cancelled'}")
        return chosen


def _text(block: v1.ContentBlock) -> str:
    return block.text if isinstance(block, v1.TextContent) else f"[{block.type}]"

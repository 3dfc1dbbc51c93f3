"""The files in which Claude Code stores its sessions: their paths, and how to read them.

This follows the code of claude-code-acp 0.16.0. The adapter looks for a session by its exact `cwd`, in a directory that
is named after that path. Claude Code itself names the directories of some paths differently, so the adapter never
finds these sessions.

Files are not accessed here. Only the environment is read, for the directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import from_json

from acp_bindings.setup.errors import Remark

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup.unions import SessionUpdate


def encode_project_path(cwd: str) -> str:
    r"""Return the directory name that the adapter uses: `-home-me` for `/home/me`, `C-Users` for `C:\Users`.

    Paths are not resolved, so `.` is looked up under that name, and `/a/` differs from `/a`.
    """
    if windows := re.match(r"([A-Za-z]):(?=[\\/])", cwd):
        return windows[1] + re.sub(r"[\\/]", "-", cwd[2:])
    return cwd.replace("/", "-")


def candidate_paths(session_id: str, cwd: str, *, config_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the possible paths of a session: the one that the adapter reads, then the one that Claude Code writes.

    The last path has `*` for the directory, because adapters from 0.16.1 on look in all of them.

    Args:
        session_id: the exact id.
        cwd: the directory of the session.
        config_dir: by default the value of `CLAUDE_CONFIG_DIR`, or `~/.claude`.
    """
    if config_dir is None:
        config_dir = os.environ.get("CLAUDE_CONFIG_DIR", os.path.join(os.path.expanduser("~"), ".claude"))
    directories = dict.fromkeys((encode_project_path(cwd), re.sub(r"[^A-Za-z0-9]", "-", cwd), "*"))
    return [os.path.join(config_dir, "projects", each, f"{session_id}.jsonl") for each in directories]


def read_transcript(
    protocol: ProtocolPackage,
    lines: Iterable[str | bytes],
    *,
    session_id: str | None = None,
    remarks: list[Remark] | None = None,
) -> list[SessionUpdate]:
    """Return the conversation in a file of Claude Code, as updates of *protocol* for `replay`.

    Messages, thoughts, images and tool calls, with what these gave. Other entries, such as summaries and those of
    sub-agents (`isSidechain`), are no part of it.

    Args:
        protocol: whose updates to make.
        lines: the file, or its lines.
        session_id: leave out what is of another session, as a file that was continued elsewhere may have.
        remarks: a list that is added to for each line that is skipped because it is not JSON (`malformed-line`).
    """
    found: list[SessionUpdate] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry: Any = from_json(line)
        except ValueError:
            if remarks is not None:
                told = f"line {number} is skipped, because it is not JSON"
                remarks.append(Remark((), "malformed-line", told, facts={"line": number}))
            continue
        found += _updates(cast("Any", protocol), entry, session_id, f"line-{number}")
    return found


def _updates(package: Any, entry: Any, session_id: str | None, line: str) -> Iterator[SessionUpdate]:
    match entry:
        case {"isSidechain": True} | {"isMeta": True}:
            return
        case {"sessionId": str(other)} if session_id not in (None, other):
            return
        case {"type": "user" | "assistant", "message": {"role": "user" | "assistant" as role, "content": content}}:
            # Claude writes a message in several entries, which have its id in common.
            id_ = entry["message"].get("id") or entry.get("uuid") or line
        case _:
            return
    ids = {"message_id": str(id_)}
    chunk = package.UserMessageChunk if role == "user" else package.AgentMessageChunk
    blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(content, str | list) else ():
        match block:
            case {"type": "text", "text": str(text)}:
                yield chunk(content=package.TextContent(text=text), **ids)
            case {"type": "thinking", "thinking": str(text)}:
                yield package.AgentThoughtChunk(content=package.TextContent(text=text), **ids)
            case {"type": "image", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
                yield chunk(content=package.ImageContent(data=data, mime_type=kind), **ids)
            case {"type": "tool_use", "id": str(call), "name": str(name), "input": given}:
                # v1 has another update for the first that is heard of a call.
                first = getattr(package, "ToolCall", package.SessionToolCallUpdate)
                yield first(tool_call_id=call, title=name, status="pending", raw_input=given)
            case {"type": "tool_result", "tool_use_id": str(call), "content": result}:
                status = "failed" if block.get("is_error") is True else "completed"
                yield package.SessionToolCallUpdate(tool_call_id=call, status=status, raw_output=result)
            case _:
                pass

"""Reads the lines for the shell: from a terminal with history and completion, or from a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from mcp_launch.command.explore.completing import Candidate
from mcp_launch.command.show.text import printable

if TYPE_CHECKING:
    from prompt_toolkit.history import History

__all__ = ["history_file", "piped_lines", "terminal_lines"]

_CHUNK = 65536


def history_file() -> Path:
    """The file of the history, in the state folder of the XDG base directory specification."""
    # The specification says that a relative path is to be ignored.
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"
    return state / "mcp-launch" / "history"


async def terminal_lines(prompt: str, complete: Callable[[str], Iterable[Candidate]]) -> AsyncGenerator[str]:
    """Lines typed at a terminal, until Ctrl-D; Ctrl-C throws the line away."""
    # Imported when it is needed: it takes a tenth of a second.
    from prompt_toolkit import PromptSession  # noqa: PLC0415
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion  # noqa: PLC0415
    from prompt_toolkit.document import Document  # noqa: PLC0415
    from prompt_toolkit.patch_stdout import patch_stdout  # noqa: PLC0415

    class Completing(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
            line = document.text_before_cursor
            begun = len(line) - line.rfind(" ") - 1
            for each in complete(line):
                # Behind "=" the value follows without a space.
                text = each.text if each.text.endswith("=") else f"{each.text} "
                yield Completion(text, -begun, display=printable(each.text), display_meta=printable(each.about))

    session: PromptSession[str] = PromptSession(
        prompt, history=_history(), completer=Completing(), complete_while_typing=False
    )
    while True:
        try:
            # What the server writes meanwhile is printed above the line.
            with patch_stdout():
                line = await session.prompt_async()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        yield line


async def piped_lines() -> AsyncGenerator[str]:
    """Lines of standard input, until its end."""
    rest = b""
    while chunk := await _read():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


async def _read() -> bytes:
    if sys.stdin is None:
        return b""
    descriptor = sys.stdin.fileno()
    if sys.platform == "win32":
        return await anyio.to_thread.run_sync(os.read, descriptor, _CHUNK, abandon_on_cancel=True)
    # Not in a thread: with a pipe that stays open, the thread would never end. A file cannot be waited for and raises
    # PermissionError; it is always ready.
    with suppress(PermissionError):
        await anyio.wait_readable(descriptor)
    return os.read(descriptor, _CHUNK)


def _history() -> History:
    """The history; only in memory where its file cannot be written."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory  # noqa: PLC0415

    path = history_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What is typed may be a secret.
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)

"""Reads the lines of the shell: from a terminal with history and completion, or from a pipe."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from acp_bindings._standard_streams import printable
from acp_bindings.connection._stdio import flows
from mcp_launch._command.explore.schemas import (
    DESCRIBING_STEPS,
    Schema,
    alternatives,
    arguments_of,
    fixed_values,
    kind_of,
    properties_of,
    schema_of,
)
from mcp_launch._validation import TooManySteps, limited_steps

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from mcp_launch._servers.record import Offer

_CHUNK = 65536
_BEFORE_JSON = re.compile(r"[^\s='\"]+:?=(?=[\[{])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A completion of the last word of a line."""

    text: str
    about: str = ""


async def terminal_lines(prompt: str, complete: Callable[[str], Iterable[Candidate]]) -> AsyncGenerator[str]:
    """Yield the lines typed on a terminal, until Ctrl-D. Ctrl-C discards the line."""
    # Imported when it is needed, because that takes a tenth of a second.
    from prompt_toolkit import PromptSession  # noqa: PLC0415
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion  # noqa: PLC0415
    from prompt_toolkit.document import Document  # noqa: PLC0415
    from prompt_toolkit.patch_stdout import patch_stdout  # noqa: PLC0415

    class Completing(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
            line = document.text_before_cursor
            begun = len(line) - line.rfind(" ") - 1
            for each in complete(line):
                # The value follows "=" without a space.
                text = each.text if each.text.endswith("=") else f"{each.text} "
                yield Completion(text, -begun, display=printable(each.text), display_meta=printable(each.about))

    session: PromptSession[str] = PromptSession(
        prompt, history=_history(), completer=Completing(), complete_while_typing=False
    )
    while True:
        try:
            # Output of the server is printed above the line.
            with patch_stdout():
                line = await session.prompt_async()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        yield line


async def piped_lines() -> AsyncGenerator[str]:
    rest = b""
    while chunk := await read_chunk():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def split_words(line: str) -> list[str]:
    """Split a line into words as a shell does. JSON after `=` needs no quotes: `filter={"a": [1, 2]}`.

    Raises:
        ValueError: a quotation mark is not closed.
    """
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        if (before := _BEFORE_JSON.match(line, at)) and (end := _json_end(line, before.end())) is not None:
            words.append(line[at:end])
            at = end
            continue
        text = StringIO(line[at:])
        lexer = shlex.shlex(text, posix=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        words.append(lexer.get_token() or "")
        # shlex has read the space after the word, and nothing more.
        at += text.tell()
    return words


def candidates(line: str, offer: Offer, commands: Mapping[str, tuple[str, str]]) -> list[Candidate]:
    """Return the completions of the last word of *line*. *commands* has the usage and description of each command."""
    before, _, begun = line.rpartition(" ")
    words = before.split()
    found: list[Candidate] = []
    # If a schema takes too long, keep what was found until then.
    with suppress(TooManySteps), limited_steps(DESCRIBING_STEPS):
        found.extend(each for each in _all(words, begun, offer, commands) if each.text.startswith(begun))
    return found


def _history() -> History:
    """Return the history, which is only in memory if its file cannot be written."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory  # noqa: PLC0415

    # The XDG base directory specification requires that relative paths are ignored.
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"
    path = state / "mcp-launch" / "history"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Lines may contain secrets.
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


async def read_chunk() -> bytes:
    """Return what is typed or piped next; empty at the end of standard input."""
    if sys.stdin is None:
        return b""
    descriptor = sys.stdin.fileno()
    if sys.platform == "win32":
        return await anyio.to_thread.run_sync(os.read, descriptor, _CHUNK, abandon_on_cancel=True)
    # Not in a thread, which would never end if the pipe stays open. A file is always ready; waiting for one raises
    # PermissionError on Linux, and never ends on macOS once it has been read.
    if flows(descriptor) or os.isatty(descriptor):
        await anyio.wait_readable(descriptor)
    return os.read(descriptor, _CHUNK)


def _json_end(line: str, start: int) -> int | None:
    """Return the end of the JSON value at *start*; None if there is none, or if the word continues after it."""
    try:
        _, end = json.JSONDecoder().raw_decode(line, start)
    except (ValueError, RecursionError):
        return None
    return end if end == len(line) or line[end].isspace() else None


def _all(words: list[str], begun: str, offer: Offer, commands: Mapping[str, tuple[str, str]]) -> Iterable[Candidate]:  # noqa: PLR0911 - a list of cases
    match words:
        case []:
            return (Candidate(text=name, about=about) for name, (_, about) in commands.items())
        case ["tool" | "call"]:
            return (Candidate(text=tool.name, about=_first(tool.description)) for tool in offer.tools or ())
        case ["call", name, *given]:
            schemas = [tool.input_schema for tool in offer.tools or () if tool.name == name]
            return _arguments(schemas[0], given, begun) if schemas else ()
        case ["read"]:
            return (Candidate(text=str(each.uri), about=each.name) for each in offer.resources or ())
        case ["get"]:
            return (Candidate(text=each.name, about=_first(each.description)) for each in offer.prompts or ())
        case ["get", name, *given]:
            schemas = [schema_of(prompt) for prompt in offer.prompts or () if prompt.name == name]
            return _arguments(schemas[0], given, begun) if schemas else ()
        case _:
            return ()


def _arguments(schema: Schema, given: list[str], begun: str) -> Iterator[Candidate]:
    name, equals, _ = begun.partition("=")
    if equals:
        for value in _values(properties_of(schema, schema).get(name), schema):
            yield Candidate(text=f"{name}={value}")
        return
    typed = {word.partition("=")[0].rstrip(":") for word in given}
    for argument in arguments_of(schema):
        if argument.name not in typed or argument.type.endswith("[]"):
            about = _first(argument.description)
            yield Candidate(text=f"{argument.name}=", about=f"{argument.type}{f', {about}' if about else ''}")


def _values(part: Any, root: Schema) -> Iterator[str]:
    for each in alternatives(part, root):
        for value in fixed_values(each) or ([True, False] if kind_of(each) == "boolean" else []):
            yield value if isinstance(value, str) else json.dumps(value)


def _first(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]

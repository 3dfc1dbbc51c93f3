"""Calls a tool, and prints its result: text is shown, and binary data is saved in files."""

from __future__ import annotations

import base64
import json
import mimetypes
import os
import re
import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import anyio
from rich.filesize import decimal

from mcp_launch._command.explore.arguments import WrongArguments, read_untrusted
from mcp_launch._command.explore.asking import Answers
from mcp_launch._command.explore.opened import Opened, dumped, use_one
from mcp_launch._command.explore.schemas import Schema, signature
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.show.text import DOCUMENTS, harmless, remark, write, write_json, write_refusal
from mcp_launch._json_values import indented
from mcp_launch.failures import InvalidResult, LaunchFailure, UnusableInput
from mcp_launch.options import TOOLS, Budgets
from mcp_launch.report import FailureJson, ServerReport

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool
    from pydantic import BaseModel

_LONGEST = 80
"""The maximum length of the part of a file name that comes from a server."""
_SUFFIXES = {
    **{f"audio/{kind}": f".{kind}" for kind in ("flac", "ogg", "wav", "webm")},
    "audio/mp4": ".m4a",
    "text/markdown": ".md",
}
"""Suffixes that Python knows on some systems only, or not at all."""
SILENCE = 10.0
"""Seconds without a response after which a line reports what is pending."""
_DYING = 5.0
"""Seconds to wait for the reason why a session ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The outcome of a call: a result, the reason why there is none, or both if the result is invalid."""

    result: CallToolResult | None = None
    failure: FailureJson | None = None
    """The failure of the server, if it has exited."""
    error: dict[str, Any] | None = None
    """The error of this call: it was rejected, took too long, or its result is invalid."""

    @property
    def ok(self) -> bool:
        return self.result is not None and not self.result.is_error and self.error is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One part of a result: text, or binary data."""

    text: str | None = None
    data: bytes | None = None
    media_type: str | None = None
    name: str | None = None
    """Its name, if it is a resource: the last part of the URI."""
    about: str = ""
    """A description of data, which cannot be shown."""


def call_once(
    typed: Typed,
    session: Session,
    *,
    tool: str,
    words: list[str],
    whole: str | None,
    checked: bool,
    wait: float,
    save: str | None,
    answers: Answers,
    as_json: bool,
    show_secrets: bool,
) -> int:
    """Start the server, call the tool, print its result, and return the exit status."""

    async def ready(opened: Opened) -> int:
        found = opened.find("tool", tool, opened.server.tools)
        try:
            arguments = await read_untrusted(words, found.input_schema, whole=whole, checked=checked)
        except WrongArguments as wrong:
            complain_of(wrong, opened, tool, found.input_schema)
            if as_json:
                reasons = [opened.hide(f"{tool}: {fault}") for fault in wrong.faults]
                write_refusal("call", reasons, server=opened.name, tool=tool)
            return 2
        silence = _reports_silence(opened, tool, wait=wait) if sys.stderr.isatty() else nullcontext()
        async with silence, opened.asker.answering():
            result = await call_tool(opened, found, arguments, wait=wait)
        show = _write_json if as_json else print_answer
        show(opened, found, result, save=save)
        return 0 if result.ok else 1

    def failed(report: ServerReport) -> None:
        if as_json:
            known = {"server": report["name"], "tool": tool, "failure": report["failure"]}
            write_json({"ok": False, **DOCUMENTS["call"], **known})

    return use_one(typed, session, ready, lists=TOOLS, show_secrets=show_secrets, answers=answers, failed=failed)


async def call_tool(
    opened: Opened,
    tool: Tool,
    arguments: dict[str, Any],
    *,
    wait: float = Budgets().call,
    again: bool = True,
) -> Answer:
    """Call a tool of a ready server. If there is no valid result, print the reason to standard error.

    *wait* is the timeout in seconds. With *again*, the tool is called again if the user had to open a URL first.
    """
    try:
        on_progress = opened.notices.progress if sys.stderr.isatty() else None
        return Answer(result=await opened.server.session.call_tool(tool.name, arguments, wait, on_progress))
    except LaunchFailure as failure:
        opened.notices.complain(str(failure))
        return Answer(failure=failure.to_json())
    except InvalidResult as invalid:
        opened.notices.complain(str(invalid))
        return Answer(result=invalid.result, error={"code": None, "message": str(invalid)})
    except Exception as error:  # noqa: BLE001 - the SDK raises many kinds of exceptions
        if again and await opened.asker.opens(error):
            return await call_tool(opened, tool, arguments, wait=wait, again=False)
        message = _late(tool, error)
        opened.notices.complain(f"{opened.name}: {message}" if message else opened.why(error))
        if death := await _death(opened, error):
            return Answer(failure=death)
        return Answer(error={"code": getattr(error, "code", None), "message": opened.hide(message or str(error))})


def print_answer(opened: Opened, tool: Tool, answer: Answer, *, save: str | None) -> None:
    """Print the result of a tool, if there is one. An error result is printed to standard error."""
    if answer.result is None:
        return
    raw = dumped(answer.result)
    pieces = with_structured(pieces_of(raw["content"]), raw.get("structuredContent"))
    write_pieces(opened, pieces, stem=tool.name, save=save, failed=answer.result.is_error)


def complain_of(wrong: WrongArguments, opened: Opened, name: str, schema: Schema) -> None:
    """Print what is wrong with the arguments of a tool or prompt, and its signature."""
    for fault in wrong.faults:
        opened.notices.complain(f"{name}: {fault}")
    opened.notices.say(f"usage: {signature(name, schema)}")


def pieces_of(blocks: Iterable[BaseModel | dict[str, Any]]) -> list[Piece]:
    """Return the parts of MCP content: the blocks of a result or a prompt, or the contents of a resource."""
    return [_piece(each if isinstance(each, dict) else dumped(each)) for each in blocks]


def write_pieces(opened: Opened, pieces: Sequence[Piece], *, stem: str, save: str | None, failed: bool = False) -> None:
    """Write text to standard output, the text of an error to standard error, and binary data into files.

    With *save*, text that has a name, such as a resource, is saved in that folder too. Data is always saved, by default
    in the current directory, because it may be impossible or expensive to call the tool again.
    """
    for piece in pieces:
        if piece.data is not None or (save is not None and piece.name is not None):
            save_pieces(opened, [piece], stem=stem, folder=save or os.curdir)
            continue
        text = opened.hide_result(piece.text or "")
        if failed:
            remark(harmless(text))
        else:
            write(harmless(text) if sys.stdout and sys.stdout.isatty() else text.removesuffix("\n"))


def save_pieces(opened: Opened, pieces: Sequence[Piece], *, stem: str, folder: str) -> list[str]:
    """Save data, and texts that have a name, exactly as the server sent them. Print and return the paths."""
    paths: list[str] = []
    for piece in pieces:
        if piece.data is None and piece.name is None:
            continue
        try:
            path = save_piece(piece, Path(folder), stem=stem, name=opened.hide(piece.name or ""))
        except OSError as error:
            raise UnusableInput(f"{folder}: {error.strerror}") from None
        paths.append(str(path))
        remark(f"saved {path}{f' ({harmless(opened.hide(piece.about))})' if piece.about else ''}")
    return paths


def save_piece(piece: Piece, folder: Path, *, stem: str, name: str = "") -> Path:
    """Write a piece into a new file of the folder, and return its path. Existing files are not overwritten.

    The file name consists of the stem, a number, and *name* without unsafe characters.

    Raises:
        OSError: the folder or the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = (piece.text or "").encode() if piece.data is None else piece.data
    for number in count(1):
        path = folder / _file_name(stem, number, name, piece)
        try:
            # Mode "x" also fails for a link to another place.
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("numbers do not end")


def with_structured(pieces: Sequence[Piece], structured: object) -> list[Piece]:
    """Return the pieces, and the structured result unless they contain the same, as for most servers."""
    if structured is None or _is_contained(structured, [piece.text for piece in pieces if piece.text is not None]):
        return list(pieces)
    return [*pieces, Piece(text=indented(structured, ensure_ascii=False))]


def _late(tool: Tool, error: Exception) -> str | None:
    # Imported with the SDK.
    from mcp import MCPError  # noqa: PLC0415

    from mcp_launch._diagnosis.protocol import is_timeout  # noqa: PLC0415

    if isinstance(error, MCPError) and is_timeout(error):
        within = error.message.partition(" did not respond")[2]
        return f"{tool.name} did not respond{within}; does it need more time (mcp-launch call --wait)?"
    return None


@asynccontextmanager
async def _reports_silence(opened: Opened, tool: str, *, wait: float) -> AsyncGenerator[None]:
    """Print a message if the block, which waits for a tool, takes long."""

    async def report() -> None:
        await anyio.sleep(SILENCE)
        if not opened.asker.is_asking:
            opened.notices.say(f"waiting up to {wait:g} s for {tool} (--wait); press Ctrl-C to stop")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(report)
        yield
        tasks.cancel_scope.cancel()


async def _death(opened: Opened, error: Exception) -> FailureJson | None:
    """Return the failure of the server, if that ended the call."""
    # Imported with the SDK.
    from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415

    if getattr(error, "code", None) != CONNECTION_CLOSED:
        return None
    # Many servers use this code for all rejected requests, and a URL may respond to the next call.
    with anyio.move_on_after(_DYING):
        await opened.server.settled()
    failure = opened.server.failure
    return failure.to_json() if failure else None


def _write_json(opened: Opened, tool: Tool, answer: Answer, *, save: str | None) -> None:
    raw = dumped(answer.result) if answer.result else None
    pieces = pieces_of(raw["content"]) if raw and save is not None else []
    write_json(
        {
            "ok": answer.ok,
            "server": opened.name,
            "tool": tool.name,
            "result": opened.hide_result.json(raw),
            "saved": save_pieces(opened, pieces, stem=tool.name, folder=save or os.curdir),
            "error": answer.error,
            "failure": answer.failure,
        }
    )


def _piece(raw: dict[str, Any]) -> Piece:
    match raw:
        case {"type": "text", "text": str(text)}:
            return Piece(text=text)
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return _binary(data, media_type=raw.get("mimeType"), about=kind)
        case {"type": "resource", "resource": {"uri": str()}}:
            return _resource(raw["resource"])
        case {"type": "resource_link", "uri": str(uri)}:
            return Piece(text=" ".join(_texts(raw.get("title") or raw.get("name"), f"<{uri}>", raw.get("mimeType"))))
        case {"uri": str()}:
            return _resource(raw)
        case _:
            return Piece(text=json.dumps(raw, ensure_ascii=False))


def _resource(raw: dict[str, Any]) -> Piece:
    uri, media_type = str(raw.get("uri", "")), raw.get("mimeType")
    name = _last_part(uri)
    if isinstance(text := raw.get("text"), str):
        return Piece(text=text, media_type=media_type, name=name)
    return _binary(str(raw.get("blob", "")), media_type=media_type, about=f"resource {uri}", name=name)


def _last_part(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return parts.path.rstrip("/").rpartition("/")[2] or parts.netloc


def _binary(coded: str, *, media_type: object, about: str, name: str | None = None) -> Piece:
    kind = media_type if isinstance(media_type, str) else None
    # Many encoders break lines, and some leave out the padding.
    coded = "".join(coded.split())
    try:
        data = base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True)
    except ValueError:
        hint = "; remove the part before the comma" if coded.startswith("data:") else ""
        return Piece(text=f"[{about}: its data is not base64{hint}]")
    return Piece(data=data, media_type=kind, name=name, about=", ".join(_texts(about, kind, decimal(len(data)))))


def _file_name(stem: str, number: int, name: str, piece: Piece) -> str:
    given = _safe(name)
    suffix = ""
    if not re.search(r"\.[A-Za-z0-9]{1,5}$", given):
        kind = (piece.media_type or "").partition(";")[0].strip().lower()
        guessed = _SUFFIXES.get(kind) or mimetypes.guess_extension(kind, strict=False)
        suffix = guessed or (".txt" if piece.data is None else ".bin")
        given += suffix if given else ""
    return f"{_safe(stem) or 'result'}-{number}{f'-{given}' if given else suffix}"


def _safe(name: str) -> str:
    """Return a server's name without separators, leading dots, and characters that are special in a shell."""
    return re.sub(r"([^A-Za-z0-9._-]|\.{2,})+", "_", name).strip("._-")[-_LONGEST:]


def _texts(*parts: object) -> list[str]:
    return [part for part in parts if isinstance(part, str) and part]


def _is_contained(structured: object, texts: Sequence[str]) -> bool:
    values = [_value(text) for text in texts]
    wanted = [structured]
    if isinstance(structured, dict) and list(cast("dict[str, Any]", structured)) == ["result"]:
        # The SDKs wrap a result that is not an object in this way.
        wanted.append(cast("dict[str, Any]", structured)["result"])
    return any(each in values or each in texts or each == values or each == list(texts) for each in wanted)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

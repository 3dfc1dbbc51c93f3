"""A turn: the agent's work on one prompt, with what it says, its tool calls, and its questions to the user."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeAlias, get_args

import anyio
from pydantic_core import from_json

from acp_bindings import v1
from acp_bindings._json import items_of
from acp_bindings.agent._session import M, Session
from acp_bindings.connection import RequestFailed
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import AcpError

if TYPE_CHECKING:
    from acp_bindings.agent._session import McpProvider

StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
"""The reason why a turn has ended."""

_TOOL_ERRORS = (AcpError, OSError, ValueError)
"""What a tool may fail with. The message is shown to the user. `TimeoutError` is an OSError."""
_LAST_UPDATE = 1.0
"""Seconds to send the end of a tool call that is cancelled, to a client that reads slowly."""


class Turn(Generic[M]):
    """The agent's work on one prompt. The prompt handler gets it.

    Everything that a turn sends arrives before the response to its prompt. After its end, its methods raise
    `TurnEnded`.
    """

    def __init__(self, session: Session[M], prompt: Sequence[v1.ContentBlock], provider: McpProvider[M] | None) -> None:
        self.session = session
        """The session."""
        self.prompt = prompt
        """The content of the prompt."""
        self.command: str | None = None
        """The name of the slash command with which the prompt begins, if the agent has it."""
        self.arguments = ""
        """The text after the command."""
        self.message_id = str(uuid.uuid4())
        """The id of the user's message."""
        self.done = anyio.Event()
        """Set when the turn has ended."""
        self._scope = anyio.CancelScope()
        self._provider = provider
        self._speaking: tuple[str, str] = ("", "")
        """The kind and the id of the message that is being streamed."""

    def __repr__(self) -> str:
        return f"<Turn of session {self.session.id}>"

    @property
    def text(self) -> str:
        """The text of the prompt. Links and embedded text are included, as `[name](uri)` and as they are."""
        return "\n".join(text for block in self.prompt if (text := _text(block)))

    @property
    def is_cancelled(self) -> bool:
        """True if the user has cancelled the turn, or the session is being closed."""
        return self._scope.cancel_called

    def cancel(self) -> None:
        """Cancel the turn: the handler is cancelled, and the stop reason is `cancelled`."""
        self._scope.cancel()

    def end(self) -> None:
        """Note that the handler has returned."""
        self._speaking = ("", "")
        self.done.set()

    async def run(self, handler: Callable[[Turn[M]], Awaitable[object]]) -> StopReason:
        """Run the prompt *handler*, and return why the turn has ended. Exceptions of the handler are raised."""
        reason: Any = None
        with self._scope:
            reason = await handler(self)
        if self._scope.cancel_called:
            return "cancelled"
        if reason is not None and reason not in get_args(StopReason):
            raise TypeError(f"a prompt handler must return a stop reason or None, not {type(reason).__name__}")
        return reason or "end_turn"

    async def say(self, text: str) -> None:
        """Stream a piece of the agent's message. Pieces are shown as one message until something else is sent."""
        if text:
            await self.session.show(self._chunk("message", v1.AgentMessageChunk, text))

    async def think(self, text: str) -> None:
        """Stream a piece of the agent's thoughts."""
        if text:
            await self.session.show(self._chunk("thought", v1.AgentThoughtChunk, text))

    def _chunk(self, kind: str, type_: Any, text: str) -> Any:
        """Return a piece of the message that is being streamed, or of a new one, and store it."""
        if self._speaking[0] != kind:
            self._check_running()
            self._speaking = (kind, str(uuid.uuid4()))
        message_id = self._speaking[1]
        self.session.keep_text(type_, message_id, text)
        return type_(content=v1.TextContent(text=text), message_id=message_id)

    async def send(self, update: v1.SessionUpdate) -> None:
        """Send any update of v1, which is converted for a client of v2, and store it in the history."""
        self._check_running()
        self._speaking = ("", "")
        await self.session.send(update)

    async def plan(self, entries: Sequence[v1.PlanEntry | str]) -> None:
        """Show a plan, which replaces the one before.

        Args:
            entries: the entries, or their texts for those that have not begun.
        """
        complete = [
            v1.PlanEntry(content=each, priority="medium", status="pending") if isinstance(each, str) else each
            for each in entries
        ]
        await self.send(v1.Plan(entries=complete))

    async def usage(self, used: int, size: int, *, cost: float | None = None, currency: str = "USD") -> None:
        """Show how many tokens of the context window are used, and what the session has cost so far."""
        more: Any = {} if cost is None else {"cost": v1.Cost(amount=cost, currency=currency)}
        await self.send(v1.UsageUpdate(used=used, size=size, **more))

    def tool_call(
        self,
        title: str,
        *,
        kind: v1.ToolKind = "other",
        name: str | None = None,
        arguments: Any = None,
        locations: Sequence[v1.ToolCallLocation | str] = (),
    ) -> ToolCall:
        """Return a context manager that shows a tool call: its begin, and its end with the result or the failure.

            async with turn.tool_call("Read notes.txt", kind="read") as call:
                call.result(await turn.read_file("notes.txt"))

        An `AcpError`, `OSError`, `ValueError` or an error of an MCP server in the block ends the call as failed, with
        its message. It is in `call.error`, and the turn goes on. Any other exception ends the call as failed without
        its message, and is raised.

        Args:
            title: the title for the user.
            kind: the kind, which decides on the icon.
            name: the name of the tool, for programs.
            arguments: its arguments as JSON.
            locations: the files that it accesses, as absolute paths.
        """
        given = {"name": name, "raw_input": arguments, "locations": _locations(locations) or None}
        more: Any = {field: value for field, value in given.items() if value is not None}
        begin = v1.ToolCall(tool_call_id=str(uuid.uuid4()), title=title, kind=kind, status="in_progress", **more)
        return ToolCall(self, begin, self._provider)

    async def ask(self, question: str, *, call: ToolCall | None = None) -> bool:
        """Ask the user for permission, and return True if it is given.

        Args:
            question: the question, such as "Write notes.txt?".
            call: the tool call that needs the permission. Without it, v1 shows the question as a tool call of its own.
        """
        options = [
            v1.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
            v1.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
        ]
        return await self.choose(question, options, call=call) == "allow"

    async def choose(
        self, question: str, options: Sequence[v1.PermissionOption], *, call: ToolCall | None = None
    ) -> str | None:
        """Let the user choose one of *options*, and return its id; None if the question was cancelled.

        Args:
            question: the question.
            options: the options, with kinds such as `allow_always`.
            call: the tool call that needs the permission.
        """
        self._check_running()
        protocol: Any = self.session.connection.protocol
        json: dict[str, Any] = {"sessionId": self.session.id, "options": from_json(encode(list(options)))}
        if self.session.client.version == 1:
            id_ = call.id if call else str(uuid.uuid4())
            json["toolCall"] = {"toolCallId": id_, "title": question}
        else:
            json["title"] = question
            if call:
                json["subject"] = {"type": "tool_call", "toolCall": {"toolCallId": call.id}}
        request = decode(protocol.RequestPermissionRequest, json)
        outcome: Any = (await self.session.connection.request(request, method="session/request_permission")).outcome
        known = {each.option_id for each in options}
        # An outcome of a newer protocol is not a permission.
        return outcome.option_id if outcome.outcome == "selected" and outcome.option_id in known else None

    async def read_file(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Return the text of a file, from the client if it can read files, with changes that are not saved yet.

        Args:
            path: a path, absolute or relative to the session's `cwd`.
            line: the first line, counted from 1.
            limit: the number of lines.

        Raises:
            OutsideRoots: the file is not in a directory of the session.
            OSError: it cannot be read.
            RequestFailed: the client cannot read it.
        """
        self._check_running()
        session, real = self.session, self.session.roots.resolve(path)
        if session.client.supports("fs.read_text_file"):
            more: Any = {name: value for name, value in (("line", line), ("limit", limit)) if value is not None}
            protocol: Any = session.connection.protocol
            request = protocol.ReadTextFileRequest(session_id=session.id, path=str(real), **more)
            content: str = (await session.connection.request(request, method="fs/read_text_file")).content
            return content
        await _check_regular(real)
        text = await anyio.Path(real).read_text(encoding="utf-8")
        if line is None and limit is None:
            return text
        lines = text.splitlines(keepends=True)[(line or 1) - 1 :]
        return "".join(lines if limit is None else lines[:limit])

    async def write_file(self, path: str, text: str) -> None:
        """Write a file, through the client if it can write files.

        Args:
            path: a path, absolute or relative to the session's `cwd`.
            text: the new text of the file.

        Raises:
            OutsideRoots: the file is not in a directory of the session.
            OSError: it cannot be written.
            RequestFailed: the client cannot write it.
        """
        self._check_running()
        session, real = self.session, self.session.roots.resolve(path)
        if session.client.supports("fs.write_text_file"):
            protocol: Any = session.connection.protocol
            request = protocol.WriteTextFileRequest(session_id=session.id, path=str(real), content=text)
            await session.connection.request(request, method="fs/write_text_file")
            return
        await _check_regular(real)
        await anyio.to_thread.run_sync(_replace, real, text)

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the user to fill in a form, and return what was entered; None if the user or the client declines.

        Args:
            message: the question.
            schema: a JSON schema of an object with plain properties, as in `elicitation/create`.
        """
        self._check_running()
        return await self.session.elicit(message, schema)

    def _check_running(self) -> None:
        if self.done.is_set():
            raise TurnEnded(self.session.id)


class TurnEnded(AcpError, RuntimeError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A turn was used after its end. Its handler has returned, but a task that it started goes on."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f"the turn of session {self.session_id} has ended; wait for your tasks before its handler returns"


class ToolCall:
    """A tool call that the client shows. `Turn.tool_call` returns one, to be used as a context manager."""

    def __init__(self, turn: Turn[Any], begin: v1.ToolCall, provider: McpProvider[Any] | None) -> None:
        self.id = begin.tool_call_id
        """The id."""
        self.error: Exception | None = None
        """The exception with which the call has failed."""
        self._turn = turn
        self._begin = begin
        self._provider = provider
        self._end = v1.SessionToolCallUpdate(tool_call_id=self.id, status="completed")

    @property
    def has_failed(self) -> bool:
        """True if the call has failed: by an exception, by a result that reports an error, or by `fail`."""
        return self._end.status == "failed"

    @property
    def output(self) -> str:
        """The text of the result or of the failure, for a model."""
        contents = (each.content for each in self._end.content or () if isinstance(each, v1.Content))
        return "\n".join(text for each in contents if (text := _text(each)))

    def result(self, result: Any) -> None:
        """Set the result, which the client gets when the block ends.

        Args:
            result: a text, a `Diff` or another `ToolCallContent` of v1, a content block, a list of these, the result of
                an MCP tool, or None.
        """
        if self._provider and (update := self._provider.tool_call_update(self.id, result)):
            self._end = update
            return
        self._end.content = [] if result is None else _contents(result)

    def fail(self, message: str) -> None:
        """End the call as failed when the block ends, with a message for the user."""
        self._end = v1.SessionToolCallUpdate(tool_call_id=self.id, status="failed", content=_contents(message))

    async def update(
        self,
        *,
        title: str | None = None,
        content: Any = None,
        locations: Sequence[v1.ToolCallLocation | str] | None = None,
    ) -> None:
        """Show progress. What is None does not change.

        Args:
            title: a new title.
            content: what there is so far, as for `result`. The result replaces it.
            locations: the files that are accessed.
        """
        more: dict[str, Any] = {}
        if title is not None:
            more["title"] = title
        if content is not None:
            more["content"] = _contents(content)
        if locations is not None:
            more["locations"] = _locations(locations)
        await self._turn.send(v1.SessionToolCallUpdate(tool_call_id=self.id, **more))

    async def __aenter__(self) -> Self:
        await self._turn.send(self._begin)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        expected = _TOOL_ERRORS + (self._provider.errors if self._provider else ())
        is_expected = isinstance(error, expected) and not isinstance(error, TurnEnded)
        if is_expected and isinstance(error, Exception):
            self.error = error
            self.fail(_message(error))
        elif error is not None:
            # v1 has no status for a cancelled call.
            self.fail("Internal error" if isinstance(error, Exception) else "Cancelled")
        with anyio.move_on_after(_LAST_UPDATE, shield=True):
            await self._turn.send(self._end)
        return is_expected


def _locations(locations: Sequence[v1.ToolCallLocation | str]) -> list[v1.ToolCallLocation]:
    return [v1.ToolCallLocation(path=each) if isinstance(each, str) else each for each in locations]


def _message(error: Exception) -> str:
    return error.message if isinstance(error, RequestFailed) else str(error) or type(error).__name__


def _contents(result: Any) -> list[v1.ToolCallContent]:
    parts = items_of(result) if isinstance(result, list) else [result]
    texts = (v1.TextContent(text=each) if isinstance(each, str) else each for each in parts)
    return [v1.Content(content=each) if isinstance(each, _BLOCKS) else each for each in texts]


_BLOCKS = (v1.TextContent, v1.ImageContent, v1.AudioContent, v1.ResourceLink, v1.EmbeddedResource)


def _text(block: Any) -> str:
    """Return the text of a content block, or an empty string."""
    if isinstance(block, v1.TextContent):
        return block.text
    if isinstance(block, v1.ResourceLink):
        return f"[{block.title or block.name}]({block.uri})"
    if isinstance(block, v1.EmbeddedResource) and isinstance(block.resource, v1.TextResourceContents):
        return block.resource.text
    return ""


async def _check_regular(path: Path) -> None:
    """Raise OSError for a named pipe or a device: a thread that waits for its other end cannot be cancelled."""
    if await anyio.Path(path).exists() and not await anyio.Path(path).is_file():
        raise OSError(f"{path} is not a file")


def _replace(path: Path, text: str) -> None:
    """Write a file at once: whoever reads it gets the old text or the new one."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="")
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

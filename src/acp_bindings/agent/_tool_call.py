"""A tool call: its begin, progress and end, as the client shows them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from pydantic import BaseModel

from acp_bindings import v1
from acp_bindings._json import items_of, members_of, mended
from acp_bindings.agent._telemetry import ERROR, span
from acp_bindings.connection import RequestFailed
from acp_bindings.connection.errors import alone
from acp_bindings.encoding import encode
from acp_bindings.errors import AcpError, EncodeError

if TYPE_CHECKING:
    from acp_bindings.agent._session import McpProvider
    from acp_bindings.agent._turn import Turn

_ERRORS = (AcpError, OSError, ValueError)
"""The exceptions with which a tool may fail. The message is shown to the user. `TimeoutError` is an OSError."""
_LONGEST = 1000
"""The maximum length of a reason in the data of an error, in characters."""


class TurnEnded(AcpError, RuntimeError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A turn was used after its end. Its handler has returned, but a task that it started goes on."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f"the turn of session {self.session_id} has ended; wait for your tasks before its handler returns"


def unfinished(tool_call_id: str) -> v1.SessionToolCallUpdate:
    """Return the end of a tool call whose handler did not return, or whose process was killed."""
    return v1.SessionToolCallUpdate(tool_call_id=tool_call_id, status="failed", content=_contents("Cancelled"))


def running_calls(updates: Sequence[v1.SessionUpdate]) -> list[str]:
    """Return the ids of the tool calls that have no end, because the process was killed."""
    calls: dict[str, None] = {}
    for update in updates:
        note_call(calls, update)
    return [*calls]


def note_call(calls: dict[str, None], update: v1.SessionUpdate) -> None:
    """Add the tool call that *update* begins to *calls*, or remove the one that it ends."""
    if isinstance(update, (v1.ToolCall, v1.SessionToolCallUpdate)):
        if update.status in ("completed", "failed"):
            calls.pop(update.tool_call_id, None)
        elif isinstance(update, v1.ToolCall):
            calls[update.tool_call_id] = None


class ToolCall:
    """A tool call that the client shows. `Turn.tool_call` returns one, to be used as a context manager."""

    def __init__(self, turn: Turn[Any], begin: v1.ToolCall, provider: McpProvider[Any] | None) -> None:
        self.id = begin.tool_call_id
        """The id."""
        self.title = begin.title
        """The title that the client shows. Change it with `update`."""
        self.error: Exception | None = None
        """The exception with which the call has failed."""
        self.terminal_output: str | None = None
        """The output of the client's terminal that it shows; in the history in place of the terminal."""
        self._turn = turn
        self._begin = begin
        self._provider = provider
        self._end = v1.SessionToolCallUpdate(tool_call_id=self.id, status="completed")
        self._block = ExitStack()
        self._set_attribute: Callable[[str, str], None]

    @property
    def has_failed(self) -> bool:
        """True if the call has failed: by an exception, by a result that reports an error, or by `fail`."""
        return self._end.status == "failed"

    @property
    def output(self) -> str:
        """The result, the failure or the output of the terminal, as text for a model.

        Without text, it is the structured result as JSON. In place of an image, it has `[image/png]`.
        """
        end = self._end
        blocks = [each.content for each in end.content or () if isinstance(each, v1.Content)]
        parts = [text_of(each) or _type_of(each) for each in blocks]
        if end.raw_output is not None and not any(map(text_of, blocks)):
            parts.append(encode(end.raw_output).decode())
        # Some models do not accept an error without a text.
        return "\n".join(filter(None, parts)) or self.terminal_output or ("The call failed." if self.has_failed else "")

    def result(self, result: Any) -> None:
        """Set the result, which the client gets when the block ends.

        Args:
            result: a text, a `Diff` or another `ToolCallContent` of v1, a content block, a list of these, the result of
                an MCP tool, or None.

        Raises:
            RuntimeError: this is called outside the block of the call.
            TypeError: *result* is something else.
            ValueError: it cannot be sent, such as the name of a file that is not UTF-8.
        """
        update = self._provider.tool_call_update(self.id, result) if self._provider else None
        self._end_with(update or self._update(self._end.status, [] if result is None else _contents(result)))

    def fail(self, message: str | None = None) -> None:
        """End the call as failed when the block ends, with a message for the user, or with what the call shows.

        Raises:
            RuntimeError: this is called outside the block of the call.
            ValueError: *message* cannot be sent.
        """
        kept = self._end.model_copy(update={"status": "failed"})
        self._end_with(kept if message is None else self._update("failed", _contents(message)))

    async def update(
        self,
        *,
        title: str | None = None,
        content: Any = None,
        locations: Sequence[v1.ToolCallLocation | str] | None = None,
    ) -> None:
        """Show progress. Arguments that are None change nothing.

        Args:
            title: a new title.
            content: the content so far, as for `result`. The result replaces it.
            locations: the files that are accessed; paths may be relative to the session's `cwd`.
        """
        more: dict[str, Any] = {}
        if title is not None:
            more["title"] = self.title = title
        if content is not None:
            more["content"] = _contents(content)
            self.terminal_output = None
        if locations is not None:
            more["locations"] = locations_of(locations, self._turn.session.cwd)
        await self._turn.send(v1.SessionToolCallUpdate(tool_call_id=self.id, **more))

    def _update(self, status: v1.ToolCallStatus | None, content: list[v1.ToolCallContent]) -> v1.SessionToolCallUpdate:
        return v1.SessionToolCallUpdate(tool_call_id=self.id, status=status, content=content)

    def _end_with(self, end: v1.SessionToolCallUpdate) -> None:
        if self.id not in self._turn.calls:
            raise RuntimeError("a tool call is shown by its block: `async with turn.tool_call(…) as call:`")
        try:
            encode(end)  # raises here, where the block can fail
        except EncodeError:
            end = end.model_copy(update={"raw_output": mended(end.raw_output)})
            encode(end)
        self._end = end

    async def __aenter__(self) -> Self:
        # Before its begin is sent, because that may wait for a slow client, and the turn may end meanwhile.
        self._turn.calls[self.id] = None
        self._block.enter_context(self._turn.in_any_task())
        try:
            await self._turn.send(self._begin)
        except BaseException:
            del self._turn.calls[self.id]
            self._block.close()
            raise
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": self.id}
        name = self._begin.name
        if name:
            attributes["gen_ai.tool.name"] = name
        self._set_attribute = self._block.enter_context(
            span(f"execute_tool {name}" if name else "execute_tool", attributes=attributes)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        error = error and alone(error)
        expected = _ERRORS + (self._provider.errors if self._provider else ())
        is_cancelled = error is not None and not isinstance(error, Exception)
        if isinstance(error, expected) and not isinstance(error, TurnEnded):
            self.error = error
            self.fail(_message(error))
        elif error is not None:
            # v1 does not have a status for a cancelled call.
            self.fail("Cancelled" if is_cancelled else "Internal error")
        if self.has_failed:
            self._set_attribute(ERROR, "cancelled" if is_cancelled else type(error).__name__ if error else "tool_error")
        self._block.close()
        if self.terminal_output and self._end.content is None:
            kept = v1.SessionToolCallUpdate(tool_call_id=self.id, content=_contents(self.terminal_output))
            self._turn.session.keep(encode(kept))
        self._turn.post(self._end, shown_as={"status": "cancelled"} if is_cancelled else {})
        return self.error is not None


def locations_of(locations: Sequence[v1.ToolCallLocation | str], cwd: str) -> list[v1.ToolCallLocation]:
    return [v1.ToolCallLocation(path=os.path.join(cwd, each)) if isinstance(each, str) else each for each in locations]


def _message(error: Exception) -> str:
    message = str(error) or type(error).__name__
    if isinstance(error, RequestFailed):
        # Many clients only say "Internal error", and put the reason into the data.
        data = members_of(error.data)
        given = [data["details"]] if "details" in data else [error.data, *data.values()]
        reasons = [each[:_LONGEST] for each in given if isinstance(each, str)]
        message = ": ".join(filter(None, [error.message, "; ".join(reasons)]))
    # It may have the name of a file that is not UTF-8.
    return message.encode(errors="backslashreplace").decode()


def _contents(result: Any) -> list[v1.ToolCallContent]:
    parts = items_of(result) if isinstance(result, list) else [result]
    return [_content(v1.TextContent(text=each) if isinstance(each, str) else each) for each in parts]


def _content(part: Any) -> v1.ToolCallContent:
    if isinstance(part, _BLOCKS):
        return v1.Content(content=part)
    if not isinstance(part, BaseModel):
        raise TypeError(f"pass a text, such as json.dumps(…), or content of v1, not {type(part).__name__}")
    return cast("v1.ToolCallContent", part)


_BLOCKS = (v1.TextContent, v1.ImageContent, v1.AudioContent, v1.ResourceLink, v1.EmbeddedResource)


def text_of(block: Any) -> str:
    """Return the text of a content block, or an empty string."""
    if isinstance(block, v1.TextContent):
        return block.text
    if isinstance(block, v1.ResourceLink):
        return f"[{block.title or block.name}]({block.uri})"
    if isinstance(block, v1.EmbeddedResource) and isinstance(block.resource, v1.TextResourceContents):
        return f'<context ref="{block.resource.uri}">\n{block.resource.text}\n</context>'
    return ""


def _type_of(block: Any) -> str:
    """Return the media type of what is not text in a content block, such as `[image/png]`, or an empty string."""
    data = block.resource if isinstance(block, v1.EmbeddedResource) else block
    is_media = isinstance(data, (v1.ImageContent, v1.AudioContent, v1.BlobResourceContents))
    return f"[{data.mime_type or 'binary data'}]" if is_media else ""

"""A turn: the agent's work on one prompt, with what it says, its tool calls, and its questions to the user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, cast, get_args

import anyio
from pydantic_core import from_json

from acp_bindings import v1
from acp_bindings._envelope import Line
from acp_bindings._from_v1 import from_v1
from acp_bindings._json import mended
from acp_bindings._text_files import lines_of, read_text, write_text
from acp_bindings.agent._command import CommandResult, run_here, run_in_terminal
from acp_bindings.agent._offers import outcome_of
from acp_bindings.agent._session import M, Session, StopReason, chunk_of, log
from acp_bindings.agent._tool_call import ToolCall, TurnEnded, locations_of, note_call, text_of
from acp_bindings.connection import ConnectionClosed
from acp_bindings.connection.errors import alone
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import EncodeError

if TYPE_CHECKING:
    from acp_bindings.agent._session import McpProvider
    from acp_bindings.setup import RequestError


CANCELLATION = 1.0
"""Seconds for the cancellation of the turn to arrive after the client has answered a question with `cancelled`."""


class Turn(Generic[M]):
    """The agent's work on one prompt. The prompt handler gets it.

    Everything that a turn sends arrives before the response to its prompt. After its end, its methods raise
    `TurnEnded`.
    """

    def __init__(self, session: Session[M], request: v1.PromptRequest, provider: McpProvider[M] | None) -> None:
        self.session = session
        """The session."""
        self.prompt: Sequence[v1.ContentBlock] = request.prompt
        """The content of the prompt."""
        self.meta = request.meta
        """The `_meta` of the request; None without it."""
        self.command: str | None = None
        """The name of the first slash command of the agent with which a text of the prompt begins; None without one."""
        self.arguments = ""
        """The text after the command."""
        self.message_id = session.new_id("message")
        """The id of the user's message."""
        self.may_begin = anyio.Event()
        """Set when the turns that were queued before have ended."""
        self.done = anyio.Event()
        """Set when the turn has ended."""
        self.outcome: StopReason | RequestError | None = None
        """The stop reason or the error with which the turn has ended."""
        self.calls: dict[str, None] = {}
        """The ids of the tool calls that have not ended yet."""
        self._scope = anyio.CancelScope()
        self._scopes = {self._scope}
        self._tasks: list[asyncio.Task[Any] | None] = []
        """The tasks of `in_any_task`."""
        self._provider = provider
        self._speaking = "", ""
        """The discriminator and the id of the message that is being streamed."""
        self._around_text = b"", b""
        """The line of its pieces before and after the text."""
        self._half = ""
        """The first half of an emoji, with which a piece has ended."""

    def __repr__(self) -> str:
        return f"<Turn of session {self.session.id}>"

    @property
    def text(self) -> str:
        """The text of the prompt, with links as `[name](uri)` and embedded text files as `<context ref="uri">`.

        Embedded files that are not text are left out, like images and audio.
        """
        return "\n".join(text for block in self.prompt if (text := text_of(block)))

    @property
    def is_cancelled(self) -> bool:
        """True if the user has cancelled the turn, or the session is being closed."""
        return self._scope.cancel_called

    @property
    def is_over(self) -> bool:
        """True if the turn has ended."""
        return self.outcome is not None

    def cancel(self) -> None:
        """Cancel the turn: the handler is cancelled, and the stop reason is `cancelled`."""
        if not self.is_cancelled:
            for task in filter(None, {*self._tasks}):
                task.cancel()
            for scope in self._scopes:
                scope.cancel()
            self.session.end_in_time(self)

    def end(self, outcome: StopReason | RequestError) -> None:
        """End the turn, which sends nothing from now on. Its prompt is answered when the handler has returned."""
        self._speaking = "", ""
        self.outcome = outcome

    @contextmanager
    def part(self) -> Generator[None]:
        """A block of another task that is cancelled with the turn."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)

    @contextmanager
    def in_any_task(self) -> Generator[None]:
        """A block that is cancelled with the turn also in an asyncio task of a library, which no scope reaches.

        It is not a scope, because that must be left in the task that has entered it, and before all scopes around it.
        """
        is_reached = anyio.get_current_task().parent_id is not None
        task = None if is_reached else asyncio.current_task()
        self._tasks.append(task)
        try:
            yield
        finally:
            self._tasks.remove(task)

    async def run(self, handler: Callable[[Turn[M]], Awaitable[object]]) -> StopReason:
        """Run the prompt *handler*, and return why the turn has ended. Exceptions of a cancelled one are logged."""
        reason: Any = None
        if not self.is_cancelled:
            try:
                with self._scope:
                    reason = await outcome_of(handler(self), "a prompt handler")
            except Exception as error:
                if not self.is_cancelled:
                    raise
                # The requests of a turn fail when its client leaves.
                if not isinstance(alone(error), ConnectionClosed):
                    log.warning("the cancelled prompt handler failed in session %s", self.session.id, exc_info=error)
        if self.is_cancelled:
            return "cancelled"
        if reason is None:
            return "end_turn"
        if reason not in get_args(StopReason):
            known = ", ".join(get_args(StopReason))
            raise TypeError(f"a prompt handler must return None or a stop reason ({known}), not {reason!r:.100}")
        return cast("StopReason", reason)

    async def say(self, text: str) -> None:
        """Stream a piece of the agent's message. Pieces are shown as one message until something else is sent.

        An emoji may be split between two pieces. Half an emoji without the other half is shown as U+FFFD; at the end of
        the message, it is left out.
        """
        if text:
            await self.session.show_line(self._piece("agent_message_chunk", text))

    async def think(self, text: str) -> None:
        """Stream a piece of the agent's thoughts."""
        if text:
            await self.session.show_line(self._piece("agent_thought_chunk", text))

    def _piece(self, kind: str, text: Any) -> Line:
        """Return the line of a piece of the message that is being streamed, or of a new one, and store the piece."""
        if not isinstance(text, str):
            raise TypeError(f"the text must be a string, not {type(text).__name__}")
        message_id = self._message_id(kind)
        before, after = self._around_text
        text = self._half + text
        try:
            json = encode(text)
        except EncodeError:
            # The API of a model may have split an emoji, of which each piece has a half.
            self._half = text[-1] if "\ud800" <= text[-1] < "\udc00" else ""
            json = encode(text := mended(text.removesuffix(self._half)))
        line = Line(before + json + after)
        self.session.keep_text(kind, message_id, text)
        return line

    def _message_id(self, kind: str) -> str:
        if self._speaking[0] != kind:
            self.check_running()
            self._speaking = kind, self.session.new_id("message")
            # Only the text differs between the pieces of a message, so the rest is encoded once.
            before, after = self.session.line_of(chunk_of(*self._speaking)).split(b'"text":""')
            self._around_text, self._half = (before + b'"text":', after), ""
        return self._speaking[1]

    async def send(self, update: v1.SessionUpdate, *, shown_as: Mapping[str, Any] | None = None) -> None:
        """Send any update of v1, which is converted for a client of v2, and store it in the history.

        Args:
            update: the update. A piece of a message without an id belongs to the message that is being streamed.
            shown_as: fields that have other values for a client of v2.

        Raises:
            DecodeError: it is the mode, which is an option for a client of v2; use `Session.set_mode`.
        """
        self.check_running()
        if isinstance(update, (v1.AgentMessageChunk, v1.AgentThoughtChunk)) and update.message_id is None:
            update = update.model_copy(update={"message_id": self._message_id(update.session_update)})
        else:
            self._speaking = "", ""
        await self.session.send(update, shown_as=shown_as)
        note_call(self.calls, update)

    def post(self, update: v1.SessionUpdate, *, shown_as: Mapping[str, Any] | None = None) -> None:
        """Send an update like `send`, without waiting for a client that reads slowly, and also after a cancellation."""
        self.check_running()
        self._speaking = "", ""
        self.session.post(update, shown_as=shown_as)
        note_call(self.calls, update)

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
            arguments: its arguments as JSON. NaN is shown as null, and a lone surrogate as U+FFFD.
            locations: the files that it accesses; paths may be relative to the session's `cwd`.
        """
        given = {"name": name, "raw_input": arguments, "locations": locations_of(locations, self.session.cwd) or None}
        more: Any = {field: value for field, value in given.items() if value is not None}
        id_ = self.session.new_id("tool_call")
        begin = v1.ToolCall(tool_call_id=id_, title=title, kind=kind, status="in_progress", **more)
        try:
            encode(begin)
        except EncodeError:
            begin = mended(begin)
        return ToolCall(self, begin, self._provider)

    async def ask(self, question: str, *, call: ToolCall | v1.ToolCall | None = None) -> bool:
        """Ask the user for permission, and return True if it is given.

        If the user cancels the turn instead, the handler is cancelled here.

        Args:
            question: the question, such as "Write notes.txt?".
            call: the tool call that needs the permission, also that of a `PermissionQuestion`. Without it, v1 shows the
                question as a tool call of its own, because a permission request of v1 is always about one. It fails
                unless the user agrees.

        Raises:
            RequestFailed: the client has no handler for such requests, or it failed.
        """
        options = [
            v1.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
            v1.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
        ]
        return await self.choose(question, options, call=call) == "allow"

    async def choose(
        self, question: str, options: Sequence[v1.PermissionOption], *, call: ToolCall | v1.ToolCall | None = None
    ) -> str | None:
        """Let the user choose one of *options*, and return its id; None if the client does not return one of them.

        If the user cancels the turn instead, the handler is cancelled here. None is returned if a client cancels the
        question, but not the turn within a second.

        Args:
            question: the question.
            options: the options, with kinds such as `allow_always`.
            call: the tool call that needs the permission, as for `ask`.

        Raises:
            RequestFailed: the client has no handler for such requests, or it failed.
            DecodeError: *question* or *options* cannot be sent; v2 requires an option.
        """
        self.check_running()
        is_v1 = self.session.client.version == 1
        if is_v1 and call is None:
            chosen = None
            async with self.tool_call(question) as own:
                chosen = await self.choose(question, options, call=own)
                if chosen is None:
                    own.fail("Cancelled")
                elif any(each.option_id == chosen and each.kind.startswith("reject") for each in options):
                    own.fail("Rejected")
            if own.error:  # the block has caught it
                raise own.error
            return chosen
        protocol: Any = self.session.connection.protocol
        json: dict[str, Any] = {"sessionId": self.session.id, "options": from_json(encode(list(options)))}
        shown = v1.SessionToolCallUpdate(tool_call_id=call.id) if isinstance(call, ToolCall) else call
        about: dict[str, Any] = from_json(encode(from_v1(protocol, shown))) if shown else {}
        about.pop("sessionUpdate", None)
        if is_v1:
            json["toolCall"] = {**about, "title": question}
        else:
            json["title"] = question
            if about:
                json["subject"] = {"type": "tool_call", "toolCall": about}
        request = decode(protocol.RequestPermissionRequest, json)
        try:
            outcome: Any = (await self.session.ask_user(request, method="session/request_permission")).outcome
        finally:
            if is_v1 and call and call.title != question and not self.is_over:
                # Clients show the question in place of the title.
                self.session.post(v1.SessionToolCallUpdate(tool_call_id=about["toolCallId"], title=call.title))
        if outcome.outcome == "cancelled":
            # The client cancels the turn, and its cancellation may arrive after this answer.
            await anyio.sleep(CANCELLATION)
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
            ValueError: it is not UTF-8, or *line* or *limit* is not a number of lines.
            RequestFailed: the client cannot read it.
        """
        self.check_running()
        session, real = self.session, self.session.roots.resolve(path)
        by_client = session.client.supports("fs.read_text_file")
        # It is made even if it is not sent, because it checks the arguments, which a model may have made up.
        wire: Any = session.connection.protocol if by_client else v1
        more: Any = {name: value for name, value in (("line", line), ("limit", limit)) if value is not None}
        request = wire.ReadTextFileRequest(session_id=session.id, path=str(real), **more)
        if by_client:
            content: str = (await session.request(request, method="fs/read_text_file")).content
            return content
        return lines_of(await anyio.to_thread.run_sync(read_text, real), line, limit)

    async def write_file(self, path: str, text: str) -> None:
        """Write a file, through the client if it can write files.

        Args:
            path: a path, absolute or relative to the session's `cwd`.
            text: the new text of the file.

        Raises:
            OutsideRoots: the file is not in a directory of the session.
            OSError: it cannot be written.
            ValueError: *text* is not a string, or cannot be UTF-8.
            RequestFailed: the client cannot write it.
        """
        self.check_running()
        session, real = self.session, self.session.roots.resolve(path)
        by_client = session.client.supports("fs.write_text_file")
        wire: Any = session.connection.protocol if by_client else v1
        request = wire.WriteTextFileRequest(session_id=session.id, path=str(real), content=text)
        if by_client:
            await session.request(request, method="fs/write_text_file")
            return
        await anyio.to_thread.run_sync(write_text, real, text)

    async def run_command(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        limit: int = 100_000,
        call: ToolCall | None = None,
    ) -> CommandResult:
        """Run a command, in a terminal of the client if it has them, and return its output and exit code.

            async with turn.tool_call("Run the tests", kind="execute") as call:
                result = await turn.run_command(["pytest", "-q"], timeout=60, call=call)
                call.result(str(result))

        No shell is used. The command is ended with its children when the turn is cancelled. Only its directory is
        checked: it can access everything that the agent can, so ask the user before.

        Args:
            command: the program and its arguments.
            cwd: the directory, absolute or relative to the session's `cwd`, which is the default.
            env: environment variables to add.
            timeout: seconds after which it is stopped; None for no limit.
            limit: the bytes of output that are kept: the last ones.
            call: the tool call in which the client shows the terminal. Without terminals, its result is the output.

        Raises:
            OutsideRoots: *cwd* is not in a directory of the session.
            OSError: it cannot be started.
            ValueError: *command* is not a list of strings, or another argument is not valid.
            RequestFailed: the client cannot run it.
        """
        self.check_running()
        if not isinstance(cast("object", command), Sequence) or isinstance(command, str) or not command:
            raise ValueError('command must be a list, such as ["pytest", "-q"], because no shell is used')
        if not isinstance(cast("object", env or {}), Mapping):
            raise ValueError("env must be an object of strings")
        try:
            timeout = None if timeout is None else float(timeout)  # a model may have passed "60"
        except (TypeError, ValueError):
            raise ValueError(f"timeout must be a number of seconds, not {timeout!r}") from None
        session = self.session
        by_client = session.client.supports("terminal")
        wire: Any = session.connection.protocol if by_client else v1
        program, *args = command
        create = wire.CreateTerminalRequest(
            session_id=session.id,
            command=program,
            args=args,
            env=[wire.EnvVariable(name=name, value=value) for name, value in (env or {}).items()],
            cwd=str(session.roots.resolve(cwd or session.cwd)),
            output_byte_limit=limit,
        )
        with self.in_any_task():
            if by_client:
                return await run_in_terminal(self, create, timeout=timeout, call=call)
            result = await run_here(command, cwd=create.cwd, env=env or {}, timeout=timeout, limit=limit)
        if call and result.output:
            call.result(result.output)
        return result

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the user to fill in a form, and return what was entered; None if the user or the client declines.

        Args:
            message: the question.
            schema: a JSON schema of an object with plain properties, as in `elicitation/create`.

        Raises:
            DecodeError: *schema* contains anything else, such as `$ref` or `anyOf`.
        """
        self.check_running()
        return await self.session.elicit(message, schema)

    def check_running(self) -> None:
        """Raise `TurnEnded` if the turn has ended."""
        if self.is_over:
            raise TurnEnded(self.session.id)

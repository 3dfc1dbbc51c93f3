"""The agent that is probed, as a stream of lines: a process, or what answers at a URL.

Nothing here reads a message by its type, because the probe also sends wrong ones, and must see wrong ones come back.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus

from acp_bindings._condition import Condition
from acp_bindings._json import members_of
from acp_bindings._processes.process import ChildProcess, LineBuffer, how_it_ended, last_words
from acp_bindings.connection._child import start_child
from acp_bindings.connection.errors import ConnectionClosed
from acp_bindings.probe._check import Failed
from acp_bindings.setup.capabilities import Side

Message: TypeAlias = dict[str, Any]
Serve: TypeAlias = Callable[[Message], Awaitable[Message | None]]
"""Returns the `result` or the `error` for a request of the agent; None to leave it open."""

LONGEST_MESSAGE = 64 * 1024 * 1024
_FORM = "Write each message on one line, without line breaks in it and without a header before it, and flush it."
_SILENT = f"Read requests from standard input, and answer on standard output. {_FORM}"
_START = "The agent must start and answer `initialize`; see its standard error, and run its command by hand."
_CRASH = "The agent must not exit during a conversation; see its standard error."
SHOWN = 400
"""The maximum number of characters of a line that are shown."""


@dataclass(eq=False)
class Line:
    """A line of the conversation."""

    sender: Side
    """`client` or `agent`."""
    text: str
    message: Any
    """The parsed JSON; None if it is not JSON."""
    time: datetime
    number: int
    """Its place in the conversation, from 0."""
    is_wrong: bool = False
    """True if the probe has sent it knowing that it is wrong, so that the rules of `check` do not apply to it."""
    is_utf8: bool = True
    """False if bytes of it had to be replaced."""

    @property
    def fields(self) -> Message:
        """The message, if it is an object; otherwise empty."""
        return members_of(self.message)

    def shown(self, hide: Callable[[str], str]) -> str:
        """Return the sender and the line without secrets, which is shortened."""
        text = hide(self.text)  # before it is cut, because half a secret would not be recognized
        return f"{self.sender}: {text if len(text) <= SHOWN else f'{text[:SHOWN]}…'}"


@dataclass(eq=False)
class Call:
    """A request of the probe, and its response once it has come."""

    request: Line
    response: Line | None = None

    @property
    def message(self) -> Message:
        """The response as JSON; empty without one."""
        return self.response.fields if self.response else {}

    @property
    def result(self) -> Any:
        """The result; None if there is none."""
        return self.message.get("result")

    @property
    def error(self) -> Message | None:
        """The error; None if the agent has not answered with one."""
        error = self.message.get("error")
        return cast("Message", error) if isinstance(error, dict) else None

    @property
    def code(self) -> Any:
        """The code of the error; None without an error."""
        return (self.error or {}).get("code")

    @property
    def lines(self) -> list[Line]:
        """The request and the response."""
        return [self.request, *([self.response] if self.response else [])]


class Transport(Protocol):
    """The way to an agent."""

    async def send(self, data: bytes, /) -> None: ...
    async def receive(self) -> bytes | None: ...


class Key(NamedTuple):
    """An id of JSON-RPC as a key: 1, "1" and true are different ids."""

    type: str
    text: str


def key_of(message: Message) -> Key:
    """Return the id of a message as a key."""
    return Key(type(message.get("id")).__name__, str(message.get("id")))


@dataclass(eq=False)
class Agent:
    """A started agent. Its messages are read in the background, and its requests are served by `serve`."""

    transport: Transport
    timeout: float
    serve: Serve
    process: ChildProcess | None = None
    lines: list[Line] = field(default_factory=list[Line])
    """The conversation so far."""
    initialized: Message = field(default_factory=dict[str, Any])
    """The result of `initialize`, once there is one."""
    opening: list[Line] = field(default_factory=list[Line])
    """The lines of `initialize`."""
    left: Line | None = None
    """The line that represents the end of the agent's input; None while that is open."""
    has_ended: bool = False
    """True once the agent has closed its output."""
    open: dict[Key, list[Call]] = field(default_factory=dict[Key, list[Call]])
    next_id: int = 0
    moved: Condition = field(default_factory=Condition)
    reading: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def read(self, tasks: TaskGroup) -> None:
        """Read the messages of the agent until it ends."""
        try:
            with self.reading:
                while (data := await self.transport.receive()) is not None:
                    text = data.decode(errors="replace").rstrip("\r\n")
                    if text.strip():
                        line = self._add("agent", text)
                        line.is_utf8 = data.startswith(text.encode())
                        self._take(line, tasks)
        finally:
            self.has_ended = True
            self.moved.notify_all()

    def _take(self, line: Line, tasks: TaskGroup) -> None:
        message = line.fields
        if "method" in message and "id" in message:
            tasks.start_soon(self._answer, message)
        elif "method" not in message and (calls := self.open.get(key_of(message))):
            call = calls.pop(0)
            call.response, line.is_wrong = line, call.request.is_wrong
            self.moved.notify_all()

    async def _answer(self, request: Message) -> None:
        try:
            served = await self.serve(request)
        except (ArithmeticError, LookupError, TypeError, AttributeError, OSError, ValueError):
            # `conversation.schema` says what is wrong with it.
            served = {"error": {"code": -32602, "message": "Invalid params"}}
        if served is not None and not self.has_ended:
            with suppress(Failed):  # the check that waits for the agent notices its end
                await self.send({"jsonrpc": "2.0", "id": request["id"], **served})

    def _add(self, sender: Side, text: str, *, is_wrong: bool = False) -> Line:
        try:
            message: Any = json.loads(text)
        except ValueError:
            message = None
        line = Line(sender, text, message, datetime.now(UTC), len(self.lines), is_wrong)
        self.lines.append(line)
        self.moved.notify_all()
        return line

    async def wait(self, holds: Callable[[], Any], *, seconds: float | None = None) -> bool:
        """Wait until *holds* is true, the agent has ended, or the time is over. Return whether it is true."""
        with anyio.move_on_after(self.timeout if seconds is None else seconds):
            while not holds() and not self.has_ended:
                await self.moved.wait()
        return bool(holds())

    async def has_answer(self, call: Call, *, seconds: float | None = None) -> bool:
        """Wait for the response to a request. Return whether it has come."""
        return await self.wait(lambda: call.response, seconds=seconds)

    async def wait_while_active(self, holds: Callable[[], Any], *, most: float) -> str:
        """Wait until *holds* is true, as long as lines come. Return why it is not, or nothing.

        *most* are the seconds after which even an agent that is active takes too long.
        """
        count = 0

        def has_moved() -> bool:
            return holds() or len(self.lines) > count

        with anyio.move_on_after(most):
            while not holds():
                count = len(self.lines)
                if not await self.wait(has_moved):
                    return f"nothing came for {self.timeout:g} s"
        return "" if holds() else f"it went on for {most:g} s"

    async def send(self, message: Any, *, is_wrong: bool = False) -> Line:
        """Send a message, which may be any JSON."""
        return await self.send_text(json.dumps(message, ensure_ascii=False), is_wrong=is_wrong)

    async def send_text(self, text: str, *, is_wrong: bool = False, end: str = "\n", pieces: int = 1) -> Line:
        """Send a line, in several *pieces* if it says so."""
        line = self._add("client", text, is_wrong=is_wrong)
        await self._write(line, end=end, pieces=pieces)
        return line

    async def _write(self, line: Line, *, end: str = "\n", pieces: int = 1) -> None:
        # An agent may have sent half a surrogate pair, which only JSON can represent, as an escape.
        data = f"{line.text}{end}".encode(errors="backslashreplace")
        size = -(-len(data) // pieces)
        with anyio.move_on_after(self.timeout) as scope:
            try:
                for at in range(0, len(data), size):
                    await self.transport.send(data[at : at + size])
                    if pieces > 1:
                        await anyio.sleep(0.002)  # so that they arrive one by one
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionClosed) as error:
                # It has probably ended, which is noticed a little later.
                await self.wait(lambda: False, seconds=1.0)
                if isinstance(error, ConnectionClosed):
                    raise Failed(str(error), self.lines[-2:]) from error
                if self.process:
                    with anyio.move_on_after(1.0):
                        await self.process.wait()
                raise self.failure("the agent no longer reads", self.lines[-2:]) from None
        if scope.cancelled_caught:
            raise Failed(f"the agent has not read a line within {self.timeout:g} s", [line])

    def new_id(self) -> int:
        """Return an id that was not used."""
        self.next_id += 1
        return self.next_id

    async def begin(
        self,
        method: str,
        params: Any = None,
        *,
        id: Any = ...,  # noqa: A002
        is_wrong: bool = False,
        **form: Any,
    ) -> Call:
        """Send a request. *form* is how `send_text` writes the line."""
        request: Message = {"jsonrpc": "2.0", "id": self.new_id() if id is ... else id, "method": method}
        if params is not None:
            request["params"] = params
        call = Call(self._add("client", json.dumps(request, ensure_ascii=False), is_wrong=is_wrong))
        self.open.setdefault(key_of(request), []).append(call)
        await self._write(call.request, **form)
        return call

    async def finish(self, call: Call) -> Call:
        """Wait for the response to a request.

        Raises:
            Failed: there is none.
        """
        if not await self.has_answer(call):
            late = "" if self.has_ended else f" within {self.timeout:g} s"
            problem = f"the agent did not respond to `{call.request.message['method']}`{late}"
            cure, hint = "" if self.initialized else _SILENT, self.more_time(call.request.message["method"])
            raise self.without_response(call, problem, call.lines, cure=cure, hint=hint)
        return call

    def without_response(self, call: Call, problem: str, lines: Iterable[Line], *, cure: str, hint: str) -> Failed:
        """Return the failure to answer a request, with the lines that may be meant as its response."""
        id_, since = call.request.fields["id"], self.since(call.request)
        stray = [each for each in since if not each.fields]
        wrong = [each for each in since if "method" not in each.fields and str(each.fields.get("id")) == str(id_)]
        if wrong and not call.response:
            problem += f"; it responded with the id {json.dumps(wrong[0].fields['id'])}, not {json.dumps(id_)}"
            cure, hint, stray = "Return the id of a request as it was sent, with the same type.", "", wrong[:1]
        elif stray:
            problem += f"; it wrote {len(stray)} line{'s' if stray[1:] else ''} without a message"
            cure, hint = _FORM, ""
        return self.failure(problem, [*lines, *stray[:3]], cure=cure, hint=hint)

    def failure(self, problem: str, lines: Iterable[Line], *, cure: str = "", hint: str = "") -> Failed:
        """Return a failure. If the agent has ended, it says how, and what to do about that."""
        if self.has_ended:
            cure, hint = _CRASH if self.initialized else _START, ""
        how = self.how_it_ended
        return Failed(problem if how in problem else f"{problem}{how}", lines, cure=cure, hint=hint)

    def more_time(self, method: str) -> str:
        """Return the advice for an agent that would respond, but later."""
        shorter = "a --prompt with a shorter answer, or " if method == "session/prompt" else ""
        return f"If the agent needs more than {self.timeout:g} s for `{method}`, use {shorter}a longer --timeout."

    async def request(self, method: str, params: Any = None, **form: Any) -> Call:
        """Send a request as `begin` does, and wait for its response.

        Raises:
            Failed: there is none.
        """
        return await self.finish(await self.begin(method, params, **form))

    async def notify(self, method: str, params: Any = None, *, is_wrong: bool = False) -> Line:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}
        return await self.send(message, is_wrong=is_wrong)

    async def close_input(self, process: ChildProcess) -> None:
        """Close the standard input of the agent, as a client that exits does."""
        self.left = self._add("client", "(standard input was closed)")
        await process.close_input()

    def since(self, line: Line) -> list[Line]:
        """Return the lines of the agent after *line*."""
        return [each for each in self.lines[line.number + 1 :] if each.sender == "agent"]

    @property
    def how_it_ended(self) -> str:
        """How the agent has ended, as the rest of a sentence; empty while it runs."""
        if not self.has_ended:
            return ""
        status = self.process.returncode if self.process else None
        if not self.process or status is None:
            return "; the agent closed its output"
        said = last_words(self.process.stderr.lines())
        return f"; the agent {how_it_ended(status)}" + (f", and wrote to standard error: {said}" if said else "")

    async def stop(self, *, patience: float = 1.0) -> None:
        """Stop the agent."""
        self.reading.cancel()
        await self.wait(lambda: False)  # until that has ended: what follows reads its output too
        if self.process:
            await self.process.stop(patience=patience)


class _ProcessTransport:
    def __init__(self, process: ChildProcess) -> None:
        self._process = process

    async def send(self, data: bytes, /) -> None:
        await self._process.send(data)

    async def receive(self) -> bytes | None:
        line = await self._process.receive_line(longest=LONGEST_MESSAGE)
        if line is None and self._process.returncode is None:
            await self._process.settle(0.5)  # so that its exit status can be told
        return line


async def start_process(
    command: Sequence[str], *, env: Mapping[str, str], tasks: TaskGroup, timeout: float, serve: Serve
) -> Agent:
    """Start a command as an agent.

    Raises:
        CannotStart: that is not possible.
    """
    process = await start_child(command, cwd=None, env=env)
    agent = Agent(_ProcessTransport(process), timeout, serve, process)
    tasks.start_soon(agent.read, tasks)
    tasks.start_soon(process.drain_stderr)
    return agent


class _UrlTransport:
    """A link of `acp_bindings.remote`, which gives and takes bytes."""

    def __init__(self, link: Any) -> None:
        self._link = link
        self._buffer = LineBuffer(limit=LONGEST_MESSAGE)
        self._lines: list[bytes] = []

    async def send(self, data: bytes, /) -> None:
        try:
            await self._link.send(data)
        except anyio.BrokenResourceError:
            raise self._link.failure or anyio.BrokenResourceError from None

    async def receive(self) -> bytes | None:
        while not self._lines:
            try:
                self._lines = self._buffer.feed(await self._link.receive())
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return None
        return self._lines.pop(0)


async def start_url(url: str, *, headers: Mapping[str, str], tasks: TaskGroup, timeout: float, serve: Serve) -> Agent:
    """Connect to an agent at a URL."""

    async def run(*, task_status: TaskStatus[Agent]) -> None:
        from acp_bindings.remote._connect import open_link  # noqa: PLC0415 - needs the extra `remote`

        async with open_link(url, limit=LONGEST_MESSAGE, headers=headers) as link, aclosing(link):
            agent = Agent(_UrlTransport(link), timeout, serve)
            task_status.started(agent)
            await agent.read(tasks)

    agent: Agent = await tasks.start(run)
    return agent

"""Answers what a server asks during a call: at the terminal, or from the file of --answer.

Elicitation is a question to the user, by a schema or with a URL. Sampling is a request to the client's model, whose
part the user plays.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import anyio
from pydantic_core import ValidationError

from mcp_launch._command.explore.arguments import WrongArguments, json_value, read_untrusted
from mcp_launch._command.explore.schemas import Argument, alternatives, arguments_of, fixed_values, kind_of
from mcp_launch._command.explore.terminal import read_chunk
from mcp_launch._command.find_servers import text_of
from mcp_launch._command.show.text import harmless, has_terminal
from mcp_launch._json_values import as_items, as_members
from mcp_launch._validation import STEPS, TooManySteps, limited_steps
from mcp_launch.failures import UnusableInput

if TYPE_CHECKING:
    from mcp_types import (
        CreateMessageRequestParams,
        CreateMessageResult,
        ElicitRequestParams,
        ElicitResult,
        ErrorData,
    )

T = TypeVar("T")
Answers: TypeAlias = Mapping[str, Iterator[Any]]
"""The answers of --answer to `elicitation` and to `sampling`."""
_REFUSED = -1
"""The error code of a sampling request that the user rejected, by the specification of MCP."""
_ACTIONS = ("accept", "decline", "cancel")


def answers_in(file: str) -> Answers:
    """Return the answers in a file: for each kind one answer to all questions, or a list in the order of use.

    Raises:
        UnusableInput: the file cannot be read, or has another form.
    """
    try:
        value = json_value(text_of(file), called=f"--answer {file}")
    except WrongArguments as wrong:
        raise UnusableInput(str(wrong)) from None
    if not isinstance(value, dict) or (answers := as_members(value)).keys() - {"elicitation", "sampling"}:
        raise UnusableInput(f'--answer {file}: must be an object with "elicitation", "sampling", or both')
    return {kind: iter(as_items(each)) if isinstance(each, list) else repeat(each) for kind, each in answers.items()}


class Asker:
    """Answers one server. Its methods are the callbacks of `Options`."""

    def __init__(self, name: str, say: Callable[[str], None], answers: Answers) -> None:
        self._name = name
        self._say = say
        self._answers: Answers = {"elicitation": iter(()), "sampling": iter(()), **answers}
        self._lock = anyio.Lock()
        self._is_open = False
        self._scopes: set[anyio.CancelScope] = set()
        """Those of the open questions."""

    @property
    def is_asking(self) -> bool:
        """True while the server waits for an answer."""
        return bool(self._scopes)

    @asynccontextmanager
    async def answering(self) -> AsyncGenerator[None]:
        """Answer what the server asks during the block, and cancel the questions that are open at its end."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False
            if self._scopes:
                for scope in self._scopes:
                    scope.cancel()
                # The next prompt must not share the terminal with a question.
                with anyio.CancelScope(shield=True):
                    async with self._lock:
                        pass

    async def elicit(self, context: Any, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002 - as the SDK calls it
        """Answer a question; an `ElicitationFnT` of the SDK."""
        from mcp_types import ElicitResult  # noqa: PLC0415 - slow to import

        answer = await self._in_turn(partial(self._elicited, params), refused={"action": "cancel"})
        try:
            return ElicitResult.model_validate(answer)
        except ValidationError:
            self._say("MCP only allows strings, numbers, booleans and lists of strings in a form; cancelled")
            return ElicitResult(action="cancel")

    async def sample(self, context: Any, params: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:  # noqa: ARG002
        """Answer a request to the model; a `SamplingFnT` of the SDK."""
        from mcp_types import CreateMessageResult, ErrorData, TextContent  # noqa: PLC0415 - slow to import

        text = await self._in_turn(partial(self._sampled, params), refused=None)
        if text is None:
            return ErrorData(code=_REFUSED, message="the user declined the sampling request")
        return CreateMessageResult(
            role="assistant", content=TextContent(text=text), model="user", stop_reason="endTurn"
        )

    async def _in_turn(self, answer: Callable[[], Awaitable[T]], *, refused: T) -> T:
        """Return an answer, one after the other, while a command waits for it."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                async with self._lock:
                    return await answer() if self._is_open else refused
            finally:
                self._scopes.discard(scope)
        return refused

    async def _elicited(self, params: ElicitRequestParams) -> dict[str, Any]:
        from mcp_types import ElicitRequestURLParams  # noqa: PLC0415 - slow to import

        self._say(f"{self._name} asks: {params.message}")
        url = params.url if isinstance(params, ElicitRequestURLParams) else None
        schema = {} if isinstance(params, ElicitRequestURLParams) else params.requested_schema
        try:
            given = next(self._answers["elicitation"])
        except StopIteration:
            return await self._by_hand(url, schema)
        return await self._from_file(given, url, schema)

    async def _sampled(self, params: CreateMessageRequestParams) -> str | None:
        self._say(f"{self._name} asks your model:")
        for line in _request(params):
            self._say(f"  {line}")
        try:
            text = next(self._answers["sampling"])
        except StopIteration:
            if not self._can_ask():
                return None
            text = await self._typed_response()
        if isinstance(text, str):
            return text
        self._say("declined")
        return None

    async def opens(self, error: Exception) -> bool:
        """Return True if a request failed because URLs must be opened first, and the user has opened them."""
        from mcp import MCPError  # noqa: PLC0415 - slow to import
        from mcp_types import URL_ELICITATION_REQUIRED, ElicitRequestURLParams  # noqa: PLC0415

        if not isinstance(error, MCPError) or error.code != URL_ELICITATION_REQUIRED:
            return False
        listed = as_items(as_members(error.data).get("elicitations"))
        try:
            asked = [ElicitRequestURLParams.model_validate(each) for each in listed]
        except ValidationError:
            asked = []
        # Without URLs, the server uses the code for something of its own.
        if not asked:
            return False
        for each in asked:
            if (await self.elicit(None, each)).action != "accept":
                return False
        try:
            return not has_terminal() or await self._agrees("Call again, now that it is done? [y/N] ")
        except EOFError:
            return False

    async def _from_file(self, given: Any, url: str | None, schema: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {"action": given}
        faults: list[str] = []
        if url is None and (isinstance(given, dict) or given == "accept"):
            answer = {"action": "accept", "content": {**as_members(given)}}
            faults = await _faults(answer["content"], schema)
        elif given not in _ACTIONS:
            expected = "an object with the answers" if url is None else '"accept"'
            faults = [f'must be {expected}, "decline" or "cancel"']
        for each in faults:
            self._say(f"--answer: {each}")
        answer = {"action": "cancel"} if faults else answer
        self._say(f"answered by --answer: {answer['action']}")
        return answer

    async def _by_hand(self, url: str | None, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user, who may decline with Ctrl-D."""
        if not self._can_ask():
            return {"action": "cancel"}
        try:
            if url is not None:
                self._say(f"  {url}")
                return {"action": "accept" if await self._agrees("Will you open this URL? [y/N] ") else "decline"}
            with limited_steps(STEPS):
                fields = list(arguments_of(schema))
            if fields:
                self._say("An empty line leaves out what is optional; Ctrl-D declines.")
            content: dict[str, Any] = {}
            for field in fields:
                await self._ask(field, schema, content)
            if faults := await _faults(content, schema):
                self._say("\n".join(faults))
                return {"action": "cancel"}
            question = f"Send this to {self._name}? [Y/n] " if fields else "Do you accept? [y/N] "
            is_sent = await self._agrees(question, usual=bool(fields))
        except EOFError:
            self._say("declined")
            return {"action": "decline"}
        except TooManySteps:
            self._say("the form is too large; cancelled")
            return {"action": "cancel"}
        return {"action": "accept", "content": content} if is_sent else {"action": "decline"}

    async def _ask(self, field: Argument, schema: dict[str, Any], content: dict[str, Any]) -> None:
        """Ask for one member until its value is valid."""
        part = as_members(as_members(schema.get("properties")).get(field.name))
        about = [str(each) for each in (part.get("title"), field.description, *field.limits) if each]
        self._say(f"  {'; '.join([str(field), *about])}")
        with limited_steps(STEPS):
            titles = dict(_titles(part, schema))
            is_array = any(kind_of(each) == "array" for each in alternatives(part, schema))
        for title, value in titles.items():
            self._say(f"    {value}: {title}")
        while True:
            text = await self._line(f"  {field.name}: ")
            if not text and not field.required:
                if part.get("default") is not None:
                    content[field.name] = part["default"]
                return
            items = text.split(",") if is_array and not text.startswith("[") else [text]
            known = [titles.get(item.strip(), item.strip()) for item in items if item.strip() or not is_array]
            words = [f"{field.name}={item}" for item in known] or [f"{field.name}:=[]"]
            try:
                content |= await read_untrusted(words, {"type": "object", "properties": {field.name: part}})
            except WrongArguments as wrong:
                self._say("\n".join(f"  {each}" for each in wrong.faults))
            else:
                return

    async def _typed_response(self) -> str | None:
        self._say("Type the response of the model; an empty line ends it, Ctrl-D declines.")
        lines: list[str] = []
        try:
            while (line := await self._line("> ")) or not lines:
                lines.append(line)
        except EOFError:
            return None
        return "\n".join(lines)

    def _can_ask(self) -> bool:
        """Return True if the user can be asked, and otherwise say why not."""
        if not (found := has_terminal()):
            self._say("refused, because standard input is not a terminal; use --answer FILE")
        return found

    async def _agrees(self, question: str, *, usual: bool = False) -> bool:
        answer = (await self._line(question)).strip().lower()
        return answer in ("y", "yes") or (usual and not answer)

    async def _line(self, prompt: str) -> str:
        """Read a line from the terminal.

        Raises:
            EOFError: the user pressed Ctrl-D.
        """
        sys.stderr.write(harmless(prompt))
        sys.stderr.flush()
        line = b""
        while not line.endswith(b"\n"):
            chunk = await read_chunk()
            if not chunk:
                raise EOFError
            line += chunk
        return line.decode(errors="replace").strip()


def _titles(part: Any, schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the titles of values that have one, with the values."""
    for each in alternatives(part, schema):
        values = fixed_values(each)
        if "const" in each and each.get("title") and each["title"] != as_members(part).get("title"):
            yield str(each["title"]), str(each["const"])
        elif values:
            yield from ((str(a), str(b)) for a, b in zip(as_items(each.get("enumNames")), values, strict=False))
        elif kind_of(each) == "array":
            yield from _titles(each.get("items"), schema)


async def _faults(content: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Return what is wrong with the content, after adding the defaults of missing required members."""
    try:
        content |= await read_untrusted([], schema, whole=json.dumps(content))
    except WrongArguments as wrong:
        return list(wrong.faults)
    return []


def _request(params: CreateMessageRequestParams) -> Iterator[str]:
    raw = params.model_dump(mode="json", by_alias=True, exclude_none=True)
    if system := raw.get("systemPrompt"):
        yield f"system: {system}"
    for message in raw["messages"]:
        for block in as_items(message["content"]) or [message["content"]]:
            text = block.get("text") if block.get("type") == "text" else f"[{block.get('type')}]"
            yield f"{message['role']}: {text}"
    yield f"(at most {raw['maxTokens']} tokens)"

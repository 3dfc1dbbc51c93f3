"""The shell: runs commands on one server, one line at a time."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

import anyio

from acp_bindings._standard_streams import printable
from mcp_launch._command.explore.arguments import WrongArguments, read_untrusted
from mcp_launch._command.explore.asking import Answers
from mcp_launch._command.explore.calling import call_tool, complain_of, pieces_of, print_answer, write_pieces
from mcp_launch._command.explore.listing import blocks_of, in_short, offer_of, tool_lines, write_blocks
from mcp_launch._command.explore.opened import Opened, use_one
from mcp_launch._command.explore.schemas import schema_of
from mcp_launch._command.explore.terminal import Candidate, candidates, piped_lines, split_words, terminal_lines
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.show.text import write
from mcp_launch.failures import UnusableInput, did_you_mean
from mcp_launch.options import EVERYTHING, Listing

if TYPE_CHECKING:
    from mcp_types import Prompt, Tool

_LISTING = 30.0
"""Timeout in seconds for listing again what the server offers."""
COMMANDS = {
    "tools": ("tools", "list the tools"),
    "tool": ("tool NAME", "show a tool with its arguments and result"),
    "call": ("call NAME key=value ...", "call a tool; key:=JSON passes an exact value"),
    "resources": ("resources", "list the resources"),
    "read": ("read URI", "read a resource"),
    "prompts": ("prompts", "list the prompts"),
    "get": ("get NAME key=value ...", "get a prompt"),
    "help": ("help", "show this list"),
    "quit": ("quit", "exit, like Ctrl-D"),
}
"""The usage of each command and what it does. The shell itself handles `quit`."""


def explore(typed: Typed, session: Session, *, save: str | None, show_secrets: bool, answers: Answers) -> int:
    """Start the server and run commands on it until `quit` or the end of the input.

    On a terminal there are history and completion, and Ctrl-C cancels the running command. Otherwise commands are read
    from standard input, and the exit status is that of the first command that failed.
    """

    async def ready(opened: Opened) -> int:
        return await _Shell(opened, save).run()

    return use_one(typed, session, ready, lists=EVERYTHING, show_secrets=show_secrets, answers=answers)


class _Shell:
    """Reads lines and runs their commands, one at a time."""

    def __init__(self, opened: Opened, save: str | None) -> None:
        self._opened = opened
        self._save = save
        (report,) = opened.fleet.report["servers"]
        self._offer = offer_of(opened.server, report)
        """The last lists of the server."""
        self._is_reported = False
        """True if the exit of the server has been reported, or the running command will report it."""

    async def run(self) -> int:
        """Run all commands. Return 0 on a terminal, otherwise the status of the first command that failed."""
        if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
            return await self._run(piped_lines(), self._do)

        def complete(line: str) -> list[Candidate]:
            return candidates(line, self._offer, COMMANDS)

        self._greet()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._report_its_end)
            await self._run(terminal_lines(f"{printable(self._opened.name)}> ", complete), self._interruptible)
            tasks.cancel_scope.cancel()
        # A second Ctrl-C must not interrupt the end of the server, which takes a limited time.
        _on_interrupt(lambda: None)
        return 0

    async def _run(self, lines: AsyncGenerator[str], do: Callable[[list[str]], Awaitable[int]]) -> int:
        failed = 0
        async with aclosing(lines):
            async for line in lines:
                try:
                    words = split_words(line)
                except ValueError as error:
                    self._opened.notices.complain(str(error).lower())
                    failed = failed or 2
                    continue
                if words in (["quit"], ["exit"]):
                    break
                if words and not words[0].startswith("#"):
                    self._is_reported = True
                    status = await do(words)
                    # The server may be exiting: wait until the reason is known.
                    await self._opened.server.settled()
                    self._is_reported = self._opened.server.failure is not None
                    self._opened.notices.warn(self._opened.server)
                    failed = failed or status
        return failed

    async def _report_its_end(self) -> None:
        """Report that the server has exited while no command was running."""
        async for _ in self._opened.fleet.changes():
            if (failure := self._opened.server.failure) and not self._is_reported:
                self._opened.notices.complain(str(failure))

    def _greet(self) -> None:
        counts = self._offer.counts.items()
        has = [f"{count} {(kind[:-1] if count == 1 else kind).replace('_', ' ')}" for kind, count in counts if count]
        self._opened.notices.say(
            f"{self._opened.name}: {', '.join(has) or 'offers nothing'}; type help for the commands"
        )

    async def _interruptible(self, words: list[str]) -> int:
        with anyio.CancelScope() as scope, _interrupting(scope.cancel):
            return await self._do(words)
        self._opened.notices.say("cancelled")
        return 0

    async def _do(self, words: list[str]) -> int:
        """Run the command of a line, print its errors, and return the exit status."""
        try:
            # The server may be exiting: wait until the reason is known.
            await self._opened.server.settled()
            async with self._opened.asker.answering():
                return await self._execute(words)
        except BrokenPipeError:
            raise
        except (UnusableInput, OSError) as error:
            # An OSError means that standard output cannot be written.
            self._opened.notices.complain(str(error))
            return 2
        except Exception as error:  # noqa: BLE001 - an error in one line must not end the shell
            self._opened.notices.complain(self._opened.why(error))
            return 1

    async def _execute(self, words: list[str]) -> int:
        """Run the command of a line and return the exit status, but raise its errors."""
        match words:
            case ["tools" | "resources" | "prompts" as kind]:
                await self._list(kind)
            case ["tool", name]:
                write_blocks([tool_lines(await self._find("tool", name), self._opened.hide, whole=True)])
            case ["call", name, *given]:
                return await self._call(name, given)
            case ["read", uri]:
                result = await self._opened.server.session.read_resource(uri)
                write_pieces(self._opened, pieces_of(result.contents), stem="resource", save=self._save)
            case ["get", name, *given]:
                return await self._get(name, given)
            case ["help", *_]:
                width = max(len(usage) for usage, _ in COMMANDS.values())
                for usage, about in COMMANDS.values():
                    write((usage.ljust(width), "bold"), f" {about}")
            case [command, *_] if command in COMMANDS:
                raise UnusableInput(f"usage: {COMMANDS[command][0]}")
            case [command, *_] if any(each.name == command for each in self._offer.tools or ()):
                raise UnusableInput(f'unknown command "{command}"; it is a tool: call {command} key=value ...')
            case _:
                hint = did_you_mean(words[0], COMMANDS) or "; type help for a list"
                raise UnusableInput(f'unknown command "{words[0]}"{hint}')
        return 0

    async def _refresh(self) -> None:
        """List again what the server offers."""
        # Imported with the SDK.
        from mcp_launch._servers.owner import list_offer  # noqa: PLC0415

        self._opened.notices.has_change = False
        self._offer = await list_offer(self._opened.server.session, EVERYTHING, seconds=_LISTING, warn=self._warn)

    async def _call(self, name: str, words: list[str]) -> int:
        tool: Tool = await self._find("tool", name)
        try:
            arguments = await read_untrusted(words, tool.input_schema)
        except WrongArguments as wrong:
            complain_of(wrong, self._opened, name, tool.input_schema)
            return 2
        answer = await call_tool(self._opened, tool, arguments)
        print_answer(self._opened, tool, answer, save=self._save)
        return 0 if answer.ok else 1

    async def _list(self, kind: Listing) -> None:
        # Not every server reports changes.
        await self._refresh()
        nothing = in_short(kind, self._offer, self._opened.server.capabilities)
        write_blocks(blocks_of(self._offer, kind, self._opened.hide) or [[(nothing, "")]])

    async def _get(self, name: str, words: list[str]) -> int:
        prompt: Prompt = await self._find("prompt", name)
        schema = schema_of(prompt)
        try:
            arguments = await read_untrusted(words, schema)
        except WrongArguments as wrong:
            complain_of(wrong, self._opened, name, schema)
            return 2
        result = await self._opened.server.session.get_prompt(name, arguments)
        for message in result.messages:
            write((f"{message.role}:", "bold"))
            write_pieces(self._opened, pieces_of([message.content]), stem=name, save=self._save)
        return 0

    def _warn(self, text: str) -> None:
        self._opened.notices.say(f"warning: {self._opened.name}: {text}")

    async def _find(self, kind: Literal["tool", "prompt"], name: str) -> Any:
        """Return the tool or prompt with this name. If it is unknown or a list has changed, list again first."""
        is_unknown = all(each.name != name for each in getattr(self._offer, f"{kind}s") or ())
        if is_unknown or self._opened.notices.has_change:
            await self._refresh()
        return self._opened.find(kind, name, getattr(self._offer, f"{kind}s") or [])


@contextmanager
def _interrupting(act: Callable[[], object]) -> Generator[None]:
    """Let Ctrl-C call *act* in a block. Set for each line, because the prompt replaces our handler by its own."""
    _on_interrupt(act)
    try:
        yield
    finally:
        _on_interrupt(lambda: None)


def _on_interrupt(act: Callable[[], object]) -> None:
    # Windows does not support such handlers: Ctrl-C ends the command there.
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)

"""One server, explored by hand: a prompt at which tools are called, resources read and prompts filled in."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio

from mcp_launch.command.explore.calling import call_tool, print_answer, read_or_complain, the_tool
from mcp_launch.command.explore.completing import Candidate, candidates
from mcp_launch.command.explore.contents import pieces_of
from mcp_launch.command.explore.nearest import did_you_mean
from mcp_launch.command.explore.offered import blocks_of, in_short, offer_of, tool_lines, write_blocks
from mcp_launch.command.explore.opened import Opened, Use, use_one
from mcp_launch.command.explore.results import write_pieces
from mcp_launch.command.explore.typed_lines import piped_lines, terminal_lines
from mcp_launch.command.explore.words import split_words
from mcp_launch.command.inputs import Session
from mcp_launch.command.show.text import printable, write
from mcp_launch.failures import UnusableInput
from mcp_launch.terms import EVERYTHING, Listing

if TYPE_CHECKING:
    from mcp_types import Prompt, Tool

__all__ = ["explore"]

_LISTING = 30.0
"""Seconds for listing again what the server offers."""
_COMMANDS = {
    "tools": ("tools", "what the server can do"),
    "tool": ("tool NAME", "one tool: its arguments, and what it answers with"),
    "call": ("call NAME key=value ...", "call a tool; key:=JSON says exactly what"),
    "resources": ("resources", "what can be read"),
    "read": ("read URI", "read a resource"),
    "prompts": ("prompts", "the prompts that it has"),
    "get": ("get NAME key=value ...", "fill in a prompt"),
    "help": ("help", "this list"),
    "quit": ("quit", "leave; so does Ctrl-D"),
}


def explore(session: Session, *, timeout: float, save: str | None, verbose: bool, show_secrets: bool) -> int:
    """Start the one server of a session and do with it what is typed, until `quit` or the end of the input.

    At a terminal there are history and completion, and Ctrl-C cancels what is being done. Elsewhere, lines are read
    from standard input, and the exit status is that of the first one that did not work.

    Raises:
        UnusableInput: standard output cannot be written to.
        SystemExit: a signal came.
    """
    stale: set[str] = set()

    async def ready(one: Opened) -> int:
        return await _Shell(one, stale, save).run()

    use = Use(ready=ready, changed=stale.add)
    return use_one(session, use, lists=EVERYTHING, timeout=timeout, verbose=verbose, show_secrets=show_secrets)


class _Shell:
    """One server and what has been listed of it, on which the commands act."""

    def __init__(self, one: Opened, stale: set[str], save: str | None) -> None:
        self._one = one
        self._notices = one.notices
        self._stale = stale
        """The kinds of which the server said that its list has changed."""
        self._save = save
        self._busy = False
        """Whether something is being done, of which it is said how it went."""
        (report,) = one.fleet.report["servers"]
        self._offer = offer_of(one.server, report)
        self._actions: dict[str, Callable[[list[str]], Awaitable[int]]] = {
            **{kind: partial(self._list, kind) for kind in EVERYTHING},
            "tool": self._tool,
            "call": self._call,
            "read": self._read,
            "get": self._get,
            "help": self._help,
        }

    async def run(self) -> int:
        """Do what is typed; of lines from a pipe, the status of the first that did not work."""
        if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
            return await self._run(piped_lines(), self._do)
        self._greet()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_of_its_end)
            await self._run(terminal_lines(f"{printable(self._one.name)}> ", self._candidates), self._interruptible)
            tasks.cancel_scope.cancel()
        # Ending a server is bounded; a second Ctrl-C does not cut it short.
        _on_interrupt(lambda: None)
        return 0

    async def _run(self, lines: AsyncGenerator[str], do: Callable[[list[str]], Awaitable[int]]) -> int:
        worst = 0
        async with aclosing(lines):
            async for line in lines:
                try:
                    words = split_words(line)
                except ValueError as error:
                    self._notices.complain(str(error).lower())
                    worst = worst or 2
                    continue
                if words in (["quit"], ["exit"]):
                    break
                if words and not words[0].startswith("#"):
                    self._busy = True
                    status = await do(words)
                    self._busy = False
                    worst = worst or status
        return worst

    async def _tell_of_its_end(self) -> None:
        """Say that the server has died while nothing was asked of it."""
        async for _ in self._one.fleet.changes():
            if (failure := self._one.server.failure) and not self._busy:
                self._notices.complain(str(failure))

    def _greet(self) -> None:
        counts = self._offer.counts.items()
        has = [f"{count} {(kind[:-1] if count == 1 else kind).replace('_', ' ')}" for kind, count in counts if count]
        self._notices.say(f"{self._one.name}: {', '.join(has) or 'offers nothing'}; help lists the commands")

    def _candidates(self, line: str) -> Iterable[Candidate]:
        return candidates(line, self._offer, {name: about for name, (_, about) in _COMMANDS.items()})

    async def _interruptible(self, words: list[str]) -> int:
        with anyio.CancelScope() as scope, _interrupting(scope.cancel):
            return await self._do(words)
        self._notices.say("cancelled")
        return 0

    async def _do(self, words: list[str]) -> int:
        command, *rest = words
        action = self._actions.get(command)
        try:
            if action is None:
                known = did_you_mean(command, _COMMANDS) or "; help lists them"
                raise UnusableInput(f'there is no command "{command}"{known}')
            # Of a server that is dying, until it is known why.
            await self._one.server.settled()
            await self._refresh(anew=command in EVERYTHING)
            return await action(rest)
        except UnusableInput as error:
            self._notices.complain(str(error))
            return 2
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - what fails with one line is no reason to end
            self._notices.complain(self._one.why(error))
            return 1

    async def _refresh(self, *, anew: bool) -> None:
        """List again what has changed, or may have: not every server tells."""
        if not self._stale and not anew:
            return
        # Imported with the SDK.
        from mcp_launch.servers.listing import list_offer  # noqa: PLC0415

        self._stale.clear()
        self._offer = await list_offer(self._one.session, EVERYTHING, seconds=_LISTING, warn=self._warn)

    async def _tool(self, words: list[str]) -> int:
        (name,) = _take(words, "tool", "NAME")
        write_blocks([tool_lines(await self._the_tool(name), self._one.hide, whole=True)])
        return 0

    async def _call(self, words: list[str]) -> int:
        if not words:
            raise UnusableInput("usage: call NAME key=value ...")
        tool = await self._the_tool(words[0])
        arguments = read_or_complain(self._one, tool, words[1:])
        if arguments is None:
            return 2
        answer = await call_tool(self._one, tool, arguments, progress=True)
        print_answer(self._one, tool, answer, save=self._save)
        return 0 if answer.ok else 1

    async def _list(self, kind: Listing, words: list[str]) -> int:
        _take(words, kind)
        nothing = in_short(kind, self._offer, self._one.server.capabilities)
        write_blocks(blocks_of(self._offer, kind, self._one.hide) or [[(nothing, "")]])
        return 0

    async def _read(self, words: list[str]) -> int:
        (uri,) = _take(words, "read", "URI")
        result = await self._one.session.read_resource(uri)
        write_pieces(self._one, list(pieces_of(result.contents)), stem="resource", save=self._save)
        return 0

    async def _get(self, words: list[str]) -> int:
        if not words:
            raise UnusableInput("usage: get NAME key=value ...")
        prompt = await self._the_prompt(words[0])
        arguments = dict(_pair(word) for word in words[1:])
        known = [each.name for each in prompt.arguments or ()]
        for name in arguments:
            if name not in known:
                raise UnusableInput(f"{prompt.name}: {name}: there is no such argument{did_you_mean(name, known)}")
        missing = [each.name for each in prompt.arguments or () if each.required and each.name not in arguments]
        if missing:
            raise UnusableInput(f"{prompt.name}: {', '.join(missing)}: missing")
        result = await self._one.session.get_prompt(prompt.name, arguments)
        for message in result.messages:
            write((f"{message.role}:", "bold"))
            write_pieces(self._one, list(pieces_of([message.content])), stem=prompt.name, save=self._save)
        return 0

    async def _help(self, words: list[str]) -> int:
        del words
        width = max(len(usage) for usage, _ in _COMMANDS.values())
        for usage, about in _COMMANDS.values():
            write((usage.ljust(width), "bold"), f" {about}")
        return 0

    def _warn(self, text: str) -> None:
        self._notices.say(f"warning: {self._one.name}: {text}")

    async def _the_tool(self, name: str) -> Tool:
        if all(tool.name != name for tool in self._offer.tools or ()):
            await self._refresh(anew=True)
        return the_tool(self._one, self._offer.tools or [], name)

    async def _the_prompt(self, name: str) -> Prompt:
        if all(prompt.name != name for prompt in self._offer.prompts or ()):
            await self._refresh(anew=True)
        prompts = self._offer.prompts or []
        for prompt in prompts:
            if prompt.name == name:
                return prompt
        near = did_you_mean(name, [prompt.name for prompt in prompts])
        raise UnusableInput(f'{self._one.name}: no prompt is called "{name}"{near}')


def _take(words: list[str], command: str, *wanted: str) -> list[str]:
    if len(words) != len(wanted):
        raise UnusableInput(f"usage: {' '.join((command, *wanted))}")
    return words


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise UnusableInput(f"{word}: must be name=value")
    return name, value


@contextmanager
def _interrupting(act: Callable[[], object]) -> Generator[None]:
    """A block in which Ctrl-C does that; the prompt has its own way with it, and takes away what was set before."""
    _on_interrupt(act)
    try:
        yield
    finally:
        _on_interrupt(lambda: None)


def _on_interrupt(act: Callable[[], object]) -> None:
    # Where there are no such handlers (Windows), Ctrl-C ends the command.
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)

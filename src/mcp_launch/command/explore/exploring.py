"""The shell: a prompt at which one server's tools are called, its resources read and its prompts filled in."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import aclosing, contextmanager, suppress

import anyio

from mcp_launch.command.explore.commands import COMMANDS, Commands
from mcp_launch.command.explore.completing import Candidate, candidates
from mcp_launch.command.explore.opened import Opened, Use, use_one
from mcp_launch.command.explore.typed_lines import piped_lines, terminal_lines
from mcp_launch.command.explore.words import split_words
from mcp_launch.command.inputs import Session
from mcp_launch.command.show.text import printable
from mcp_launch.terms import EVERYTHING

__all__ = ["explore"]


def explore(session: Session, *, timeout: float, save: str | None, verbose: bool, show_secrets: bool) -> int:
    """Start the one server of a session and do with it what is typed, until `quit` or the end of the input.

    At a terminal there are history and completion, and Ctrl-C cancels what is being done. Elsewhere, lines are read
    from standard input, and the exit status is that of the first one that did not work.

    Raises:
        UnusableInput: standard output cannot be written to.
        SystemExit: a signal came.
    """
    stale: set[str] = set()

    async def ready(opened: Opened) -> int:
        return await _Shell(opened, Commands(opened, stale, save)).run()

    use = Use(ready=ready, changed=stale.add)
    return use_one(session, use, lists=EVERYTHING, timeout=timeout, verbose=verbose, show_secrets=show_secrets)


class _Shell:
    """Reads lines and gives them to the commands, one at a time."""

    def __init__(self, opened: Opened, commands: Commands) -> None:
        self._opened = opened
        self._commands = commands
        self._is_told = False
        """Whether the user has been told that the server died, or the running command will tell."""

    async def run(self) -> int:
        """Do what is typed; of lines from a pipe, the status of the first that did not work."""
        if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
            return await self._run(piped_lines(), self._commands.do)
        self._greet()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_of_its_end)
            await self._run(terminal_lines(f"{printable(self._opened.name)}> ", self._candidates), self._interruptible)
            tasks.cancel_scope.cancel()
        # Ending a server is bounded; a second Ctrl-C does not cut it short.
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
                    self._is_told = True
                    status = await do(words)
                    # The server may be dying: wait until it is known why.
                    await self._opened.server.settled()
                    self._is_told = self._opened.server.failure is not None
                    failed = failed or status
        return failed

    async def _tell_of_its_end(self) -> None:
        """Say that the server has died while nothing was asked of it."""
        async for _ in self._opened.fleet.changes():
            if (failure := self._opened.server.failure) and not self._is_told:
                self._opened.notices.complain(str(failure))

    def _greet(self) -> None:
        counts = self._commands.offer.counts.items()
        has = [f"{count} {(kind[:-1] if count == 1 else kind).replace('_', ' ')}" for kind, count in counts if count]
        self._opened.notices.say(f"{self._opened.name}: {', '.join(has) or 'offers nothing'}; help lists the commands")

    def _candidates(self, line: str) -> Iterable[Candidate]:
        return candidates(line, self._commands.offer, {name: about for name, (_, about) in COMMANDS.items()})

    async def _interruptible(self, words: list[str]) -> int:
        with anyio.CancelScope() as scope, _interrupting(scope.cancel):
            return await self._commands.do(words)
        self._opened.notices.say("cancelled")
        return 0


@contextmanager
def _interrupting(act: Callable[[], object]) -> Generator[None]:
    """A block in which Ctrl-C calls `act`; set for each line, since the prompt replaces our handler by its own."""
    _on_interrupt(act)
    try:
        yield
    finally:
        _on_interrupt(lambda: None)


def _on_interrupt(act: Callable[[], object]) -> None:
    # Where there are no such handlers (Windows), Ctrl-C ends the command.
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)

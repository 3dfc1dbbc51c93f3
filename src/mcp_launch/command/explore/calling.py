"""Calls one tool: reads its arguments by its schema, and prints its answer as text, JSON or files."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from mcp_launch.budgets import Budgets
from mcp_launch.command.call import Call
from mcp_launch.command.explore.arguments import WrongArguments, read_untrusted
from mcp_launch.command.explore.contents import pieces_of
from mcp_launch.command.explore.opened import Opened, Use, use_one
from mcp_launch.command.explore.results import save_pieces, with_structured, write_pieces
from mcp_launch.command.explore.signature import signature
from mcp_launch.command.inputs import Session
from mcp_launch.command.show.refusal import write_refusal
from mcp_launch.command.show.text import write_json
from mcp_launch.failures import InvalidResult, LaunchFailure
from mcp_launch.shapes import FailureJson, ServerReport
from mcp_launch.terms import TOOLS

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

__all__ = ["Answer", "call_once", "call_tool", "complain_of", "print_answer"]

SILENCE = 10.0
"""Seconds without an answer after which a line says what is waited for."""
_DYING = 5.0
"""Seconds to wait for the reason why a session is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a call ended: with a result, with the reason why there is none, or with both if the result is not valid."""

    result: CallToolResult | None = None
    failure: FailureJson | None = None
    """The failure of the server, if it has died."""
    error: dict[str, Any] | None = None
    """The error of this call alone: it was refused, took too long, or its result is not valid."""

    @property
    def ok(self) -> bool:
        """Whether the tool did what it was asked for."""
        return self.result is not None and not self.result.is_error and self.error is None


def call_once(
    session: Session,
    meant: Call,
    *,
    timeout: float,
    wait: float | None,
    save: str | None,
    as_json: bool,
    verbose: bool,
    show_secrets: bool,
) -> int:
    """Start the one server of a session, call the tool and print its answer; the exit status.

    Raises:
        UnusableInput: there is no such tool, or the answer cannot be written.
        SystemExit: a signal came.
    """

    async def ready(opened: Opened) -> int:
        tool = opened.find("tool", meant.tool, opened.server.tools)
        try:
            arguments = await read_untrusted(
                list(meant.words), tool.input_schema, whole=meant.whole, checked=meant.checked
            )
        except WrongArguments as wrong:
            complain_of(wrong, opened, tool)
            if as_json:
                reasons = [opened.hide(f"{tool.name}: {fault}") for fault in wrong.faults]
                write_refusal("call", reasons, server=opened.name, tool=tool.name)
            return 2
        terminal = sys.stderr.isatty()
        async with _told_of_silence(opened, tool, wait=wait) if terminal else nullcontext():
            answer = await call_tool(opened, tool, arguments, wait=wait, progress=terminal)
        if as_json:
            _write_json(opened, tool, answer, save=save)
        else:
            print_answer(opened, tool, answer, save=save)
        return 0 if answer.ok else 1

    use = Use(ready=ready, failed=partial(_write_failure, tool=meant.tool) if as_json else None)
    return use_one(session, use, lists=TOOLS, timeout=timeout, verbose=verbose, show_secrets=show_secrets)


def complain_of(wrong: WrongArguments, opened: Opened, tool: Tool) -> None:
    """Say what is wrong with the arguments of a tool, and what it takes."""
    for fault in wrong.faults:
        opened.notices.complain(f"{tool.name}: {fault}")
    opened.notices.say(f"usage: {signature(tool.name, tool.input_schema)}")


async def call_tool(
    opened: Opened, tool: Tool, arguments: dict[str, Any], *, wait: float | None = None, progress: bool
) -> Answer:
    """Call a tool of a server that is ready; where there is no valid result, standard error already says why.

    `wait` is the number of seconds for the answer.
    """
    try:
        tell = opened.notices.progress if progress else None
        return Answer(result=await opened.session.call_tool(tool.name, arguments, wait, tell))
    except LaunchFailure as failure:
        opened.notices.complain(str(failure))
        return Answer(failure=failure.to_json())
    except InvalidResult as invalid:
        opened.notices.complain(str(invalid))
        return Answer(result=invalid.result, error={"code": None, "message": str(invalid)})
    except Exception as error:  # noqa: BLE001 - whatever the SDK makes of the answer, there is none
        message = _late(tool, error, wait=wait)
        opened.notices.complain(f"{opened.name}: {message}" if message else opened.why(error))
        if death := await _death(opened, error):
            return Answer(failure=death)
        return Answer(error={"code": getattr(error, "code", None), "message": opened.hide(message or str(error))})


def _late(tool: Tool, error: Exception, *, wait: float | None) -> str | None:
    """That it took too long, if that is why there is no answer."""
    # Imported with the SDK.
    from mcp import MCPError  # noqa: PLC0415

    from mcp_launch.diagnosis.session import is_timeout  # noqa: PLC0415

    if isinstance(error, MCPError) and is_timeout(error):
        return f"{tool.name} did not answer within {_patience(wait):g} s; does it need longer (mcp-launch call --wait)?"
    return None


def _patience(wait: float | None) -> float:
    """The seconds for an answer."""
    return Budgets().call if wait is None else wait


@asynccontextmanager
async def _told_of_silence(opened: Opened, tool: Tool, *, wait: float | None) -> AsyncGenerator[None]:
    """A block that waits for a tool, and says so when that takes long."""

    async def tell() -> None:
        await anyio.sleep(SILENCE)
        message = f"waiting for {tool.name}, which has {_patience(wait):g} s to answer (--wait); Ctrl-C ends it"
        opened.notices.say(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tell)
        yield
        tasks.cancel_scope.cancel()


async def _death(opened: Opened, error: Exception) -> FailureJson | None:
    """Why the server has died, if that is why there is no answer."""
    # Imported with the SDK.
    from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415

    if getattr(error, "code", None) != CONNECTION_CLOSED:
        return None
    # Many servers use that code for all that they refuse, and a URL that has failed once may answer the next call.
    with anyio.move_on_after(_DYING):
        await opened.server.settled()
    failure = opened.server.failure
    return failure.to_json() if failure else None


def print_answer(opened: Opened, tool: Tool, answer: Answer, *, save: str | None) -> None:
    """Print what a tool answered, if it did; an answer that is an error goes to standard error.

    Raises:
        UnusableInput: it cannot be written.
    """
    if answer.result is None:
        return
    raw = _raw(answer.result)
    pieces = with_structured(list(pieces_of(raw["content"])), raw.get("structuredContent"))
    write_pieces(opened, pieces, stem=tool.name, save=save, failed=answer.result.is_error)


def _write_json(opened: Opened, tool: Tool, answer: Answer, *, save: str | None) -> None:
    raw = _raw(answer.result) if answer.result else None
    pieces = pieces_of(raw["content"]) if raw else ()
    write_json(
        {
            "ok": answer.ok,
            "server": opened.name,
            "tool": tool.name,
            "result": opened.hide_result.json(raw),
            "saved": save_pieces(opened, list(pieces), stem=tool.name, folder=save) if save is not None else [],
            "error": answer.error,
            "failure": answer.failure,
        }
    )


def _write_failure(report: ServerReport, *, tool: str) -> None:
    nothing: dict[str, Any] = {"result": None, "saved": [], "error": None}
    write_json({"ok": False, "server": report["name"], "tool": tool, **nothing, "failure": report["failure"]})


def _raw(result: CallToolResult) -> dict[str, Any]:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)

"""The MCP servers of the sessions of an agent: what connects `acp_bindings.agent` with `launch`."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
from pydantic_core import from_json

from acp_bindings import v1
from acp_bindings.setup.capabilities import AgentCapability
from mcp_launch._catalogue import capabilities
from mcp_launch.content import tool_call_update
from mcp_launch.failures import LaunchError
from mcp_launch.fleet import Fleet, launch
from mcp_launch.options import Budgets, Options, OptionsFor, Transports, options_for

if TYPE_CHECKING:
    from mcp.client.session import ElicitationFnT
    from mcp_types import ElicitRequestParams, ElicitResult

    from acp_bindings.agent import Session

__all__ = ["SessionServers", "for_sessions"]


class SessionServers:
    """Starts the MCP servers of each session of an `acp_bindings.agent.Agent`. `for_sessions` returns one."""

    def __init__(self, *, transports: Transports, options: OptionsFor | None, **terms: Any) -> None:
        self.capabilities: Collection[AgentCapability] = capabilities(transports=transports)
        """The capabilities that the agent advertises."""
        self._options = options
        self._terms: dict[str, Any] = {"transports": transports, **terms}
        """The further arguments of `launch`."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The exceptions with which a call of a tool may fail."""
        if "mcp" not in sys.modules:
            # The SDK has not raised anything yet, and importing it here would block the event loop.
            return (LaunchError,)
        from mcp import MCPError  # noqa: PLC0415 - the SDK is only imported when there is a server

        return LaunchError, MCPError

    @asynccontextmanager
    async def open(self, servers: Sequence[Any], session: Session[Any]) -> AsyncGenerator[Fleet]:
        """Start *servers* for a session, and yield them. Failures are reported to its client."""

        def options(name: str) -> Options:
            given = options_for(name, self._options)
            return given if given.elicitation else replace(given, elicitation=_forward_to(session))

        if "stdio" not in self._terms["transports"]:
            # v1 has no capability for stdio, so its clients send such servers nevertheless.
            programs = [each for each in servers if getattr(each, "type", "stdio") == "stdio"]
            servers = [each for each in servers if each not in programs]
            for each in programs:
                await session.report(f"MCP server {each.name}: not started, because this agent only accepts URLs")
        async with (
            launch(servers, cwd=session.cwd, options=options, **self._terms) as fleet,
            anyio.create_task_group() as tasks,
        ):
            for failure in fleet.failures:
                await session.report(f"MCP server {failure}")
            tasks.start_soon(_report_failures, fleet, session)
            yield fleet
            tasks.cancel_scope.cancel()

    def tool_call_update(self, tool_call_id: str, result: Any) -> v1.SessionToolCallUpdate | None:
        """Return the end of a tool call with the result of an MCP tool; None for any other result."""
        # Without importing the SDK: only its results have these two.
        if not hasattr(result, "structured_content") or not hasattr(result, "is_error"):
            return None
        return tool_call_update(v1.SessionToolCallUpdate, tool_call_id, result)


def for_sessions(
    *,
    transports: Transports = ("stdio", "http"),
    background: bool = False,
    timeout: float = 30.0,
    budgets: Budgets | None = None,
    options: OptionsFor | None = None,
) -> SessionServers:
    """Return what an `acp_bindings.agent.Agent` needs to give its sessions MCP servers.

        agent = Agent("tools", version="1.0", mcp=mcp_launch.for_sessions())

    `Session.mcp` is the `Fleet` of the session. Servers that fail are reported to the client, each once. Questions of
    servers to the user (`elicitation/create`) are forwarded to a client that supports them, and declined otherwise.

    Args:
        transports: the transports that the agent accepts and advertises. SSE is not a default because MCP has
            deprecated it. Leave out stdio if clients must not start programs, as in a remote agent.
        background: answer `session/new` at once, while the servers are still starting.
        timeout: seconds for the servers of a session to become ready.
        budgets: seconds for each stage of each server. By default a server has one second to exit, because the agent
            ends with the client that started it.
        options: further settings: for all servers, by name, or a function of the name.

    Raises:
        UnusableInput: a transport is unknown.
    """
    budgets = budgets or Budgets(close=1.0)
    return SessionServers(
        transports=transports, options=options, background=background, timeout=timeout, budgets=budgets
    )


async def _report_failures(fleet: Fleet, session: Session[Any]) -> None:
    async for change in fleet.changes():
        if change.failure:
            await session.report(f"MCP server {change.failure}")


def _forward_to(session: Session[Any]) -> ElicitationFnT:
    async def elicit(context: Any, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001 - as the SDK calls it
        from mcp_types import ElicitResult  # noqa: PLC0415 - the SDK is imported by now

        json = from_json(params.model_dump_json(by_alias=True, exclude_none=True, exclude={"meta", "task"}))
        return ElicitResult.model_validate(await session.forward_elicitation(json))

    return elicit

"""The entries of a request, read: each is the beginning of a server, or of its failure."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from mcp_launch.failures import LaunchFailure, UnusableInput
from mcp_launch.options import Options, OptionsFor, options_for
from mcp_launch.servers.record import Record
from mcp_launch.specs import ServerSpec, SseServer
from mcp_launch.specs.parse import parse_server, transport_meant
from mcp_launch.terms import Transports
from mcp_launch.wording import Wording

__all__ = ["entries_of", "read_entry"]


def entries_of(servers: Iterable[object] | None) -> list[object]:
    """The entries of an `mcpServers`; null reads as none.

    Raises:
        UnusableInput: it is no list.
    """
    # What comes from outside is what it is, whatever its type says; of a model, iterating would give the fields.
    given: Any = servers
    if not isinstance(given, Iterable | None) or isinstance(given, str | bytes | Mapping | BaseModel):
        raise UnusableInput(f"mcpServers must be an array of servers, not {type(servers).__name__}")
    return [] if servers is None else list(servers)


def read_entry(
    entry: object,
    *,
    index: int,
    taken: Collection[str],
    transports: Transports | None,
    options: OptionsFor | None,
) -> Record:
    """The record of one entry; one that cannot be used has failed already.

    Args:
        entry: a model of any protocol version, or raw JSON.
        index: its place in the request, by which one without a name is called.
        taken: the names of the servers there are.
        transports: what the agent advertised; stdio needs no advertising.
        options: those of all servers, or by name.
    """
    # Options by name may have none for an entry that is broken.
    wording = options.wording if isinstance(options, Options) else Wording()
    try:
        spec = parse_server(entry, index=index, wording=wording)
    except LaunchFailure as failure:
        record = Record(name=failure.server, spec=None, meant=transport_meant(entry))
        record.fail(failure)
        return record
    own = options_for(spec.name, options)
    spec = replace(spec, secrets=tuple(own.secrets))
    record = Record(name=spec.name, spec=spec, options=own)
    if spec.name in taken:
        message = "another server has the same name; names must differ"
        record.fail(LaunchFailure(message, server=spec.name, stage="spec", code="duplicate_name"))
    elif transports is not None and spec.transport not in {"stdio", *transports}:
        record.fail(_not_advertised(spec))
    elif isinstance(spec, SseServer):
        _deprecate(record)
    return record


def _not_advertised(spec: ServerSpec) -> LaunchFailure:
    message = f'the agent did not say that it can connect to "{spec.transport}" servers; use another transport'
    facts = {"type": spec.transport}
    return LaunchFailure(message, server=spec.name, stage="spec", code="unsupported_transport", facts=facts)


def _deprecate(record: Record) -> None:
    record.warn("the SSE transport is deprecated by MCP; ask for a Streamable HTTP url")
    # Where warnings are errors, what a client sends must not decide whether anything is launched.
    with contextlib.suppress(DeprecationWarning):
        warnings.warn(f"{record.name}: the SSE transport is deprecated by MCP", DeprecationWarning, _caller())


def _caller() -> int:
    """The stack level of who called this package, as `warnings.warn` counts in the function that asks."""
    level, frame = 0, inspect.currentframe()
    # A launch is entered by contextlib. From Python 3.12 on, warnings.warn could skip both by itself.
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in ("mcp_launch", "contextlib"):
        level, frame = level + 1, frame.f_back
    return level

"""Lists what all servers offer of one kind, for people or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_bindings._redact import Redactor
from mcp_launch.command.explore.offered import blocks_of, in_short, kinds_of, offer_of, write_blocks
from mcp_launch.command.explore.opened import redactors_of
from mcp_launch.command.inputs import Session
from mcp_launch.command.running import run
from mcp_launch.command.show.findings import found_in
from mcp_launch.command.show.lines import print_findings, remark_failure, remark_warnings
from mcp_launch.command.show.text import printable, write, write_json
from mcp_launch.command.show.waiting import settled
from mcp_launch.command.show.wire import with_traffic
from mcp_launch.fleet import Fleet
from mcp_launch.options import Options
from mcp_launch.servers.offer import Offer
from mcp_launch.shapes import ServerReport
from mcp_launch.terms import Listing

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["list_all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """One server, and what it listed."""

    report: ServerReport
    offer: Offer
    hide: Redactor


def list_all(sessions: Sequence[Session], kind: Listing, *, timeout: float, as_json: bool, verbose: bool) -> int:
    """Start all servers and print what each offers of that kind; 1 if one failed or could not list it, else 0.

    Raises:
        UnusableInput: standard output cannot be written to.
        SystemExit: a signal came.
    """
    print_findings(each for session in sessions for each in found_in(session.source, session.findings))
    options = with_traffic(Options()) if verbose else Options()
    listed = run(sessions, partial(_listed, sessions=sessions), timeout=timeout, options=options, lists=(kind,))
    ok = all(getattr(each.offer, kind) is not None for each in listed)
    if as_json:
        write_json({"ok": ok, "servers": [_json(each, kind) for each in listed]})
    else:
        for each in listed:
            _write(each, kind, alone=len(listed) == 1)
    return 0 if ok else 1


async def _listed(fleets: Sequence[Fleet], *, sessions: Sequence[Session]) -> list[_Listed]:
    await settled(fleets, quiet=True)
    return [
        _Listed(
            report=report,
            offer=offer_of(server, report),
            hide=hide,
        )
        for fleet, session in zip(fleets, sessions, strict=True)
        for server, report, hide in zip(fleet.servers, fleet.report["servers"], redactors_of(session), strict=True)
    ]


def _write(listed: _Listed, kind: Listing, *, alone: bool) -> None:
    remark_warnings(listed.report)
    if listed.report["failure"]:
        remark_failure(listed.report)
        return
    blocks = blocks_of(listed.offer, kind, listed.hide)
    if not alone or not blocks or getattr(listed.offer, kind) is None:
        said = in_short(kind, listed.offer, listed.report["capabilities"])
        write((f"{printable(listed.report['name'])}: {said}", "bold cyan"))
    write_blocks(blocks, indent=0 if alone else 2)


def _json(listed: _Listed, kind: Listing) -> dict[str, Any]:
    report = listed.report
    return {
        "name": report["name"],
        "offered": None if report["capabilities"] is None else kind in report["capabilities"],
        **{each: _items(getattr(listed.offer, each), listed.hide) for each in kinds_of(kind)},
        "warnings": report["warnings"],
        "failure": report["failure"],
    }


def _items(items: Sequence[BaseModel] | None, hide: Redactor) -> list[Any] | None:
    if items is None:
        return None
    return [hide.json(each.model_dump(mode="json", by_alias=True, exclude_none=True)) for each in items]

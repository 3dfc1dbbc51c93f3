"""Prints the tools, resources and prompts of servers, with their descriptions."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from acp_bindings._standard_streams import printable
from mcp_launch._command.explore.opened import dumped
from mcp_launch._command.explore.schemas import Argument, arguments_of, described_arguments, schema_of, signature
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.run import run
from mcp_launch._command.show.text import (
    Styled,
    findings_of,
    harmless,
    print_findings,
    remark_failure,
    remark_warnings,
    write,
    write_json,
)
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch._servers.record import Offer
from mcp_launch.fleet import Fleet
from mcp_launch.options import Listing
from mcp_launch.report import ServerReport

if TYPE_CHECKING:
    from mcp_types import Prompt, Resource, ResourceTemplate, Tool
    from pydantic import BaseModel

CHARACTERS = 100_000
"""The maximum length of a description, and of the arguments of one tool."""
_WIDEST = 100
"""The maximum width of prose; longer lines are hard to read."""
_Hide: TypeAlias = Callable[[str], str]
"""Returns a text without the secrets of a server."""
_Listed: TypeAlias = tuple[ServerReport, Offer, Callable[[Any], Any]]
"""A server: its report, its lists, and what redacts its secrets in text and JSON."""
_LABEL = 60
"""The maximum width of the column of names; longer names stick out."""


def list_all(typed: Typed, sessions: Sequence[Session], kind: Listing, *, as_json: bool) -> int:
    """Start all servers, print what they offer of a kind, and return 1 if one failed or could not list it, else 0."""
    print_findings(findings_of(sessions))

    async def use(fleets: Sequence[Fleet]) -> list[_Listed]:
        return [
            (report, offer_of(server, report), server.redact)
            for fleet in fleets
            for server, report in zip(fleet.servers, fleet.report["servers"], strict=True)
        ]

    listed = run(typed, sessions, use, lists=(kind,))
    ok = all(getattr(offer, kind) is not None for _, offer, _ in listed)
    if as_json:
        write_json({"ok": ok, "servers": [_json(each, kind) for each in listed]})
    else:
        for each in listed:
            _write(each, kind, alone=len(listed) == 1)
    return 0 if ok else 1


def blocks_of(offer: Offer, kind: Listing, hide: _Hide) -> list[list[Styled]]:
    """Return a block of lines for each item of a kind."""
    match kind:
        case "tools":
            lines = [tool_lines(tool, hide) for tool in offer.tools or ()]
        case "resources":
            lines = [
                _resource_lines(each, hide) for each in (*(offer.resources or ()), *(offer.resource_templates or ()))
            ]
        case "prompts":
            lines = [_prompt_lines(prompt, hide) for prompt in offer.prompts or ()]
    return [list(each) for each in lines]


def write_blocks(blocks: Iterable[Iterable[Styled]], *, indent: int = 0) -> None:
    for block in blocks:
        for text, style in block:
            write((f"{' ' * indent}{text}" if text else "", style))


def offer_of(server: LaunchedServer, report: ServerReport) -> Offer:
    """Return what a server listed; None for a list that was not requested, or failed."""
    return Offer(**{kind: getattr(server, kind) for kind in report["counts"]})


def in_short(kind: Listing, offer: Offer, capabilities: Mapping[str, object] | None) -> str:
    """Return the number of items of a kind, or why there are none."""
    if kind not in (capabilities or {}):
        return f"does not offer {kind}"
    if getattr(offer, kind) is None:
        return f"could not list its {kind}"
    count = sum(offer.counts.get(each, 0) for each in kinds_of(kind))
    return f"{count or 'no'} {kind[:-1] if count == 1 else kind}"


def kinds_of(kind: Listing) -> tuple[str, ...]:
    return ("resources", "resource_templates") if kind == "resources" else (kind,)


def tool_lines(tool: Tool, hide: _Hide, *, whole: bool = False) -> Iterator[Styled]:
    """Yield the signature and description of a tool, and its arguments if the schema describes them.

    With *whole*, add the type of its result, and its annotations, such as read-only.
    """
    result = tool.output_schema if whole else None
    yield printable(hide(signature(tool.name, tool.input_schema, result=result))), "bold"
    yield from _prose(tool.description, hide, indent=4)
    arguments, are_all = described_arguments(tool.input_schema)
    room = CHARACTERS
    for text, style in _arguments(arguments, hide):
        room -= len(text)
        if room < 0:
            break
        yield text, style
    if room < 0 or not are_all:
        yield "      ... truncated; use mcp-launch tools --json for the whole schema", ""
    if whole and tool.annotations:
        annotations = {
            "read-only": tool.annotations.read_only_hint,
            "destructive": tool.annotations.destructive_hint,
            "idempotent": tool.annotations.idempotent_hint,
            "open world": tool.annotations.open_world_hint,
        }
        if hints := [name if hint else f"not {name}" for name, hint in annotations.items() if hint is not None]:
            yield f"    annotations: {', '.join(hints)}", "dim"


def _write(listed: _Listed, kind: Listing, *, alone: bool) -> None:
    report, offer, hide = listed
    remark_warnings(report["name"], report["warnings"])
    if report["failure"]:
        remark_failure(report)
        return
    blocks = blocks_of(offer, kind, hide)
    if not alone or not blocks or getattr(offer, kind) is None:
        write((f"{printable(report['name'])}: {in_short(kind, offer, report['capabilities'])}", "bold cyan"))
    write_blocks(blocks, indent=0 if alone else 2)


def _json(listed: _Listed, kind: Listing) -> dict[str, Any]:
    report, offer, hide = listed
    lists: dict[str, Sequence[BaseModel] | None] = {each: getattr(offer, each) for each in kinds_of(kind)}
    return {
        "name": report["name"],
        "offered": None if report["capabilities"] is None else kind in report["capabilities"],
        **{each: None if items is None else [hide(dumped(item)) for item in items] for each, items in lists.items()},
        "warnings": report["warnings"],
        "failure": report["failure"],
    }


def _resource_lines(resource: Resource | ResourceTemplate, hide: _Hide) -> Iterator[Styled]:
    uri = getattr(resource, "uri_template", None) or getattr(resource, "uri", "")
    size = getattr(resource, "size", None)
    kind = [resource.mime_type or "", "" if size is None else f"{size} bytes"]
    said = "  ".join(part for part in (str(uri), resource.title or resource.name, *kind) if part)
    yield printable(hide(said)), "bold"
    yield from _prose(resource.description, hide, indent=4)


def _prompt_lines(prompt: Prompt, hide: _Hide) -> Iterator[Styled]:
    """Yield the signature of a prompt without the types, its description, and its arguments."""
    arguments = list(arguments_of(schema_of(prompt)))
    names = ", ".join(f"{each.name}{'' if each.required else '?'}" for each in arguments)
    yield printable(hide(f"{prompt.name}({names})")), "bold"
    yield from _prose(prompt.description, hide, indent=4)
    yield from _arguments(arguments, hide)


def _arguments(arguments: Sequence[Argument], hide: _Hide) -> Iterator[Styled]:
    if not any(each.description or each.limits or each.inner for each in arguments):
        return
    names = [f"{each.name}?" if each.inner and not each.required else each.name for each in arguments]
    width = min(_LABEL, max(map(len, names)))
    for name, each in zip(names, arguments, strict=True):
        said = " ".join(each.description.split())
        # The signature contains the types of the arguments themselves.
        kind = each.type if each.inner or not said else ""
        limits = f"({', '.join(each.limits)})" if each.limits else ""
        text = " ".join(part for part in ("  ".join(filter(None, (kind, said))), limits) if part)
        yield from _prose(text, hide, indent=6, label=f"{name.ljust(width)}  ")


def _prose(text: str | None, hide: _Hide, *, indent: int, label: str = "") -> Iterator[Styled]:
    """Yield the lines of a description after its label, wrapped to the terminal, with their own indentation."""
    # rich knows the width of characters.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    label = printable(hide(label))
    hanging = " " * min(len(label), _LABEL + 2)
    room = max(20, min(shutil.get_terminal_size().columns, _WIDEST) - indent - len(hanging))
    console = Console(width=room)
    # Cut after redaction, because half a secret would not be recognized.
    for line in harmless(inspect.cleandoc(hide(text or "")[:CHARACTERS])).splitlines():
        inner = len(line) - len(line.lstrip())
        for part in Text(line.strip()).wrap(console, room - inner) or [""]:
            shown = f"{' ' * indent}{label}{' ' * inner}{str(part).rstrip()}"
            label = hanging
            yield shown.rstrip(), ""

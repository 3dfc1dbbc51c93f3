"""A server is asked for what it offers, page by page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any

import anyio
from mcp import MCPError

from mcp_launch.diagnosis.session import diagnose_session, is_closed
from mcp_launch.failures import InvalidResult
from mcp_launch.limits import allow_more, megabytes
from mcp_launch.servers.client import reader_of
from mcp_launch.servers.offer import Offer
from mcp_launch.terms import Listing
from mcp_launch.transports.messages import Reader
from mcp_launch.transports.unanswered import is_farewell

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Tool

__all__ = ["list_offer"]

PAGES = 1000
"""Pages of a list that are read; one without end would fill the memory for as long as listing may take."""

_NAMED = 3
"""Names that stand in a warning."""


async def list_offer(
    client: Client, lists: Collection[Listing], *, seconds: float, warn: Callable[[str], None]
) -> Offer:
    """What the server offers, of the kinds in *lists*. Of what it does not have, the list is empty.

    A server that cannot list its tools is of no use; one that cannot list the rest gets a warning, by `warn`, also when
    it has not done so within that many seconds. The limits of a message hold for all pages of a list together.
    """
    has, reader = client.server_capabilities, reader_of(client)
    offer = Offer()
    if "tools" in lists:
        tools: list[Tool] = [] if has.tools is None else await _pages(client.list_tools, "tools", reader, warn)
        _warn_of_doubles(Counter(tool.name for tool in tools), warn)
        offer.tools = tools
    with anyio.move_on_after(seconds) as patience:
        if "resources" in lists:
            if has.resources is None:
                offer.resources, offer.resource_templates = [], []
            else:
                offer.resources = await _willing(client.list_resources, "resources", reader, warn)
                # Most servers have none, and not all of these know the method.
                templates = client.list_resource_templates
                offer.resource_templates = await _willing(templates, "resource_templates", reader, None)
        if "prompts" in lists:
            prompts = client.list_prompts
            offer.prompts = [] if has.prompts is None else await _willing(prompts, "prompts", reader, warn)
    if patience.cancelled_caught:
        warn(f"did not list its resources and prompts within {seconds:.1f} s")
    return offer


def _warn_of_doubles(names: Counter[str], warn: Callable[[str], None]) -> None:
    if doubles := [name for name, times in names.items() if times > 1]:
        quoted = ", ".join(f'"{name}"' for name in doubles[:_NAMED])
        more = f" and {len(doubles) - _NAMED} more" if len(doubles) > _NAMED else ""
        warn(f"lists more than one tool called {quoted}{more}; a call says no more than the name")


async def _willing(
    list_page: Callable[..., Awaitable[Any]], kind: str, reader: Reader, warn: Callable[[str], None] | None
) -> Any:
    """All pages, or None from a server that refuses to list them."""
    try:
        return await _pages(list_page, kind, reader, warn)
    except MCPError as error:
        if is_closed(error) or is_farewell(error.error):
            raise
        said = f'"{error}"'
    except InvalidResult as error:
        said = diagnose_session(error, waited=None).message
    if warn:
        warn(f"could not list its {kind}: {said}")
    return None


async def _pages(
    list_page: Callable[..., Awaitable[Any]], kind: str, reader: Reader, warn: Callable[[str], None] | None
) -> Any:
    items: list[Any] = []
    bytes_before, values_before, most = reader.bytes, reader.values, reader.limits
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = await list_page(cursor=cursor)
        items += getattr(page, kind)
        cursor = page.next_cursor
        # Some servers send an empty one with the last page.
        if not cursor:
            return items
        if cursor in seen:
            wrong = "repeats itself"
        elif len(seen) == PAGES - 1:
            wrong = f"has more than {PAGES} pages"
        elif reader.bytes - bytes_before >= most.bytes:
            wrong = f"is longer than {megabytes(most.bytes)} ({allow_more('bytes')})"
        elif reader.values - values_before >= most.values:
            wrong = f"has more than {most.values:,} JSON values ({allow_more('values')})"
        elif len(items) >= most.items:
            wrong = f"has more than {most.items:,} items ({allow_more('items')})"
        else:
            seen.add(cursor)
            continue
        if warn:
            warn(f"its list of {kind} {wrong} and was cut")
        return items

"""All pages of `session/list`: the cursor of the next request, and the end of the list."""

from typing import Any

import pytest

from acp_bindings import decode, v1, v1_unstable, v2
from acp_bindings.setup import CapabilityNotAdvertised, SessionListing
from acp_bindings.setup.errors import EndlessListing
from tests.acp_bindings.setup.peers import agent

ABLE: dict[Any, dict[str, Any]] = {v1: {"sessionCapabilities": {"list": {}}}, v2: {"session": {}}}


def page(package: Any, *ids: str, **members: Any) -> Any:
    sessions = [{"sessionId": each, "cwd": "/"} for each in ids]
    return decode(package.ListSessionsResponse, {"sessions": sessions, **members})


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("package", [v1, v2])
@pytest.mark.parametrize("end", [{}, {"nextCursor": None}])
def test_pages_are_requested_until_the_cursor_is_missing_or_null(package: Any, end: dict[str, Any]) -> None:
    listing = SessionListing(agent(package, ABLE[package]), package.ListSessionsRequest(cwd="/p"))
    assert listing.request == package.ListSessionsRequest(cwd="/p")
    assert [each.session_id for each in listing.take(page(package, "a", "b", nextCursor="2"))] == ["a", "b"]
    assert listing.request == package.ListSessionsRequest(cwd="/p", cursor="2")
    # Any string is a cursor.
    for cursor in ("", " ", "0", "null", "é\n"):
        assert listing.take(page(package, nextCursor=cursor)) == []
        assert listing.request == package.ListSessionsRequest(cwd="/p", cursor=cursor)
    assert [each.session_id for each in listing.take(page(package, "c", **end))] == ["c"]
    assert listing.request is None
    with pytest.raises(ValueError, match="already been received"):
        listing.take(page(package))


@pytest.mark.requirement("X3")
def test_listing_requires_the_capability() -> None:
    with pytest.raises(CapabilityNotAdvertised) as caught:
        SessionListing(agent())
    assert (caught.value.capability, caught.value.method) == ("session.list", "session/list")
    assert SessionListing(agent(), assume={"session.list"}).request is not None


def test_a_filter_that_needs_a_capability_is_gated_too() -> None:
    peer = agent(v1_unstable, {"sessionCapabilities": {"list": {}}})
    with pytest.raises(CapabilityNotAdvertised, match="archived of session/list"):
        SessionListing(peer, v1_unstable.ListSessionsRequest(archived="only"))


@pytest.mark.parametrize(
    ("pages", "is_endless"),
    [
        ([("", None)], False),
        ([("a", "1"), ("a", None)], False),
        ([("a", "more"), ("b", "more"), ("c", "more"), ("d", None)], False),
        ([("ab", "1"), ("ba", "1")], True),
        ([("a", "1"), ("b", "2"), ("a", "1")], True),
    ],
)
def test_a_list_ends_or_is_endless_if_a_page_repeats_a_cursor_and_only_known_sessions(
    pages: list[tuple[str, str | None]], is_endless: bool
) -> None:
    listing = SessionListing(agent(v1, ABLE[v1]))
    *before, last = [page(v1, *ids, nextCursor=cursor) for ids, cursor in pages]
    for each in before:
        listing.take(each)
    if is_endless:
        with pytest.raises(EndlessListing) as caught:
            listing.take(last)
        assert caught.value.pages == len(pages)
    else:
        assert [each.session_id for each in listing.take(last)] == [*pages[-1][0]]
    assert listing.request is None

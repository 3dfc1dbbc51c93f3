"""Requirements for the generated types of `initialize`, in JSON and in Python."""

from collections.abc import Iterator
from typing import Any

import pytest

from acp_bindings import decode, encode
from acp_bindings._models.base import Model
from acp_bindings.setup.capabilities import members
from tests.acp_bindings.setup.peers import FIRST, INFO, SECOND, issues

NOT_VERSIONS: list[Any] = ["1", "2025-03-26", 1.0, 1.5, True, None, -1, 65536, [1], {}]
UNREADABLE: list[Any] = [None, "all", 5, [None]]


def below(model: type[Model]) -> Iterator[type[Model]]:
    """Yield the class of capabilities and the classes of all its fields."""
    yield model
    for type_ in members(model).values():
        if issubclass(type_, Model):
            yield from below(type_)


@pytest.mark.requirement("R6", "R11", "R19", "D9")
@pytest.mark.parametrize("message", ["InitializeRequest", "InitializeResponse"])
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_a_version_is_an_integer_of_16_bits_and_nothing_else(protocol: Any, message: str) -> None:
    type_ = getattr(protocol, message)
    named = {} if protocol in FIRST else {"info": INFO}
    assert issues(type_, named) == {("protocolVersion",)}
    for wrong in NOT_VERSIONS:
        assert issues(type_, {"protocolVersion": wrong, **named}) == {("protocolVersion",)}
    for right in (0, 1, 2, 65535):
        read = decode(type_, {"protocolVersion": right, **named})
        assert (read.protocol_version, type(read.protocol_version)) == (right, int)


@pytest.mark.requirement("R7", "R8", "R12", "R13", "D7", "D8")
@pytest.mark.parametrize(("message", "side"), [("InitializeRequest", "client"), ("InitializeResponse", "agent")])
@pytest.mark.parametrize("protocol", FIRST)
def test_missing_or_invalid_capabilities_and_info_of_v1_read_as_the_defaults(
    protocol: Any, message: str, side: str
) -> None:
    type_ = getattr(protocol, message)
    none = decode(type_, {"protocolVersion": 1})
    assert getattr(none, f"{side}_capabilities") == getattr(protocol, f"{side.title()}Capabilities")()
    assert getattr(none, f"{side}_info") is None
    for wrong in UNREADABLE:
        assert decode(type_, {"protocolVersion": 1, f"{side}Capabilities": wrong}) == none
    for wrong in (None, "it", {"name": "it"}):
        assert getattr(decode(type_, {"protocolVersion": 1, f"{side}Info": wrong}), f"{side}_info") is None


@pytest.mark.requirement("R8", "R13", "D8")
@pytest.mark.parametrize("message", ["InitializeRequest", "InitializeResponse"])
@pytest.mark.parametrize("protocol", SECOND)
def test_info_is_required_in_v2(protocol: Any, message: str) -> None:
    type_ = getattr(protocol, message)
    assert issues(type_, {"protocolVersion": 2}) == {("info",)}
    assert issues(type_, {"protocolVersion": 2, "info": {"name": "it"}}) == {("info", "version")}
    assert decode(type_, {"protocolVersion": 2, "info": INFO}).info.name == "it"


@pytest.mark.requirement("R24", "R33", "R35", "R36", "R37")
@pytest.mark.parametrize("side", ["Agent", "Client"])
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_every_capability_may_be_left_out_and_is_not_there_then(protocol: Any, side: str) -> None:
    found = list(below(getattr(protocol, f"{side}Capabilities")))
    assert len(found) > 1
    for type_ in found:
        nothing = decode(type_, {})
        assert encode(nothing) == b"{}"
        for name, field in type_.model_fields.items():
            if field.annotation is bool:
                assert getattr(nothing, name) is False


@pytest.mark.requirement("R26", "R41")
@pytest.mark.parametrize("side", ["Agent", "Client"])
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_unknown_fields_and_meta_are_preserved(protocol: Any, side: str) -> None:
    for type_ in below(getattr(protocol, f"{side}Capabilities")):
        raw: Any = {"telepathy": {"range": 5}, "_meta": {"example.com": {"loadSession": True}, "image": None}}
        read = decode(type_, raw)
        # Where a class of the schema has no `_meta`, it is kept as what is newer is.
        assert getattr(read, "meta", raw["_meta"]) == raw["_meta"]
        assert decode(dict[str, Any], encode(read)) == raw
        assert decode(type_, encode(read)) == read

"""The table of capabilities contains every capability, method and kind of value in the four schemas."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest

from acp_bindings import v1, v1_unstable, v2, v2_unstable
from acp_bindings._models.base import Model
from acp_bindings.setup import capabilities
from acp_bindings.setup._gates import FIELDS
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.capabilities import (
    AGENT,
    ALWAYS,
    CLIENT,
    CONTENT,
    METHODS,
    OFFERED_IN_SESSIONS,
    TABLES,
    AgentCapability,
    ClientCapability,
    Side,
    has_word,
    members,
    message_type,
)
from acp_bindings.setup.errors import UnknownCapability
from tests.acp_bindings.schemas import load

PACKAGES: list[Any] = [v1, v1_unstable, v2, v2_unstable]
SIDES: list[Side] = ["agent", "client"]
COMMON = {"auth.terminal", "elicitation", "elicitation.form", "elicitation.url"}
"""The client capabilities that exist in both versions."""


def leaves(model: type[Model], way: tuple[str, ...]) -> Iterator[str]:
    """Yield every capability in a class of capabilities: booleans, and objects without further capabilities."""
    for name, type_ in members(model).items():
        if issubclass(type_, Model) and members(type_):
            yield from leaves(type_, (*way, name))
        else:
            yield ".".join((*way, name))


@pytest.mark.requirement("R27")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("package", PACKAGES)
def test_every_capability_of_a_schema_has_a_name_in_the_table(package: Any, side: Side) -> None:
    top = next(name for name in members(message_type(package, side)) if name.lower().endswith("capabilities"))
    there = set(leaves(members(message_type(package, side))[top], (top,)))
    places = filter(None, (places.of(version_of(package)) for places in TABLES[side].values()))
    # Stable v2 has an object for authentication in which there is nothing yet.
    known = {".".join(way[:n]) for way in (place.split(".") for place in places) for n in range(1, len(way) + 1)}
    assert there - known == set(), (
        f"{package.__name__} has capabilities that have no name: add them to {side.upper()} in setup/capabilities.py"
    )


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("version", [1, 2])
def test_every_place_in_the_table_exists_in_a_schema(version: int, side: Side) -> None:
    packages = [each for each in PACKAGES if version_of(each) == version]
    for name, places in TABLES[side].items():
        place = places.of(version)
        if place:
            found = [capabilities.member_type(message_type(each, side), place.split(".")) for each in packages]
            assert any(found), f"no schema of version {version} has {place}, which the table has for {name}"


@pytest.mark.requirement("R29", "R33")
@pytest.mark.parametrize("package", PACKAGES)
def test_every_method_of_a_schema_is_in_the_table_of_the_side_that_handles_it(package: Any) -> None:
    for name, method in package.METHODS.items():
        for kind in filter(None, (method.request, method.notification)):
            for side in SIDES:
                assert kind.side not in (side, "both", "protocol") or name in METHODS[side], (
                    f"{package.__name__} has {name}, for the {side}: setup/capabilities.py must say what it needs"
                )


@pytest.mark.parametrize("side", SIDES)
def test_every_method_in_the_table_exists_and_needs_an_existing_capability(side: Side) -> None:
    for name, needed in METHODS[side].items():
        assert any(name in package.METHODS for package in PACKAGES), name
        assert needed is None or needed in TABLES[side], needed


def test_the_names_for_type_checkers_are_those_of_the_table() -> None:
    assert set(get_args(AgentCapability)) == AGENT.keys()
    assert set(get_args(ClientCapability)) == CLIENT.keys()


def test_methods_offered_in_sessions_only_need_sessions() -> None:
    assert {METHODS["agent"][name] for name in OFFERED_IN_SESSIONS} == {"session"}


def test_the_sides_of_methods_are_those_that_the_table_expects() -> None:
    found = {
        kind.side for each in PACKAGES for m in each.METHODS.values() for kind in (m.request, m.notification) if kind
    }
    assert found == {"agent", "client", "protocol", "proxy"}


def arms(union: Any) -> Iterator[type[Model]]:
    """Yield the classes of a union, including those of nested unions."""
    if isinstance(union, type):
        yield union
    else:
        for each in get_args(union):
            if isinstance(each, type) or get_args(each):
                yield from arms(each)


def kinds(union: Any) -> set[str]:
    """Return the discriminator values of the variants that the schema defines."""
    found = {each: each.__pydantic_fields__["type"].annotation for each in arms(union)}
    return {get_args(tag)[0] for each, tag in found.items() if not each.__name__.startswith("Other")}


@pytest.mark.requirement("R34", "R35")
@pytest.mark.parametrize("package", PACKAGES)
def test_every_kind_of_content_has_its_capability_or_is_baseline(package: Any) -> None:
    assert kinds(package.ContentBlock) == CONTENT.keys()
    assert {kind for kind, needed in CONTENT.items() if needed is None} == {"text", "resource_link"}


@pytest.mark.requirement("R36", "R37")
@pytest.mark.parametrize("package", PACKAGES)
def test_every_transport_of_mcp_servers_has_its_capability(package: Any) -> None:
    assert {f"mcp.{kind}" for kind in kinds(package.McpServer)} <= AGENT.keys()


GATED = ("Clients MUST only send", "Only send this when")


@pytest.mark.parametrize("name", ["v1", "v1_unstable", "v2", "v2_unstable"])
def test_every_field_that_the_schema_describes_as_gated_is_checked(name: str) -> None:
    for definition, schema in load(name).definitions.items():
        if "x-method" in schema and definition.endswith("Request"):
            for member, part in schema.get("properties", {}).items():
                if any(words in part.get("description", "").replace("\n", " ") for words in GATED):
                    assert capabilities.to_snake(member) in {*FIELDS, "mcp_servers", "mode", "prompt"}, (
                        f"{definition}.{member} needs a capability: add it to `_needs` in setup/_gates.py"
                    )


@pytest.mark.parametrize(
    ("side", "name", "guess", "other"),
    [
        ("agent", "session.laod", "session.load", None),
        ("agent", "loadSession", "session.load", None),
        ("agent", "Session", "session", None),
        ("agent", "ding", None, None),
        ("agent", "fs.read_text_file", None, "client"),
        # Spelt like one of an agent.
        ("agent", "auth.terminal", None, "client"),
        ("client", "mcp.http", None, "agent"),
    ],
)
def test_an_unknown_name_is_refused_with_the_likely_one_or_the_other_side(
    side: Side, name: str, guess: str | None, other: str | None
) -> None:
    with pytest.raises(UnknownCapability) as caught:
        capabilities.known(side, name)
    assert (caught.value.name, caught.value.guess, caught.value.side) == (name, guess, other)
    assert ("did you mean" in str(caught.value)) == (guess is not None)


@pytest.mark.requirement("R40")
def test_the_name_of_load_hides_where_it_is() -> None:
    assert AGENT["session.load"] == ("agentCapabilities.loadSession", "capabilities.session")


@pytest.mark.requirement("D21")
def test_stabilized_capabilities_are_in_v1_and_fork_is_not() -> None:
    stable = {name for name in AGENT if has_word(v1, "agent", name)}
    assert {f"session.{each}" for each in ("list", "resume", "close", "delete", "additional_directories")} <= stable
    assert "session.fork" not in stable
    assert has_word(v1_unstable, "agent", "session.fork")


def test_capabilities_common_to_all_v2_clients_have_no_place() -> None:
    assert {name for name, places in CLIENT.items() if places.v2 not in (None, ALWAYS)} == COMMON

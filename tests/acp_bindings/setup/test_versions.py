"""Versions: which are supported, which values are invalid, and which one two sides agree on."""

from typing import Any

import pytest

import acp_bindings
from acp_bindings import v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup import UnsupportedProtocolVersion
from acp_bindings.setup._versions import PACKAGES, by_version, negotiate, read_version, version_of
from acp_bindings.setup.errors import BadProtocolVersion


@pytest.mark.requirement("R3", "R20")
def test_every_protocol_package_has_the_version_of_its_name() -> None:
    assert set(PACKAGES) <= set(acp_bindings.__all__)
    assert {name: version_of(getattr(acp_bindings, name)) for name in PACKAGES} == {
        "v1": 1,
        "v1_unstable": 1,
        "v2": 2,
        "v2_unstable": 2,
    }


def test_anything_but_a_protocol_package_is_refused() -> None:
    with pytest.raises(TypeError, match="is not a protocol package; the packages are v1, v1_unstable, v2, v2_unstable"):
        version_of(acp_bindings)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"protocols must be a list: \[v1\]"):
        by_version(v1)  # pyright: ignore[reportArgumentType]


def test_packages_are_offered_by_version_the_latest_first() -> None:
    assert list(by_version([v1, v2_unstable]).items()) == [(2, v2_unstable), (1, v1)]
    assert by_version([v1, v1]) == {1: v1}
    wrongs: list[Any] = [[v1, v1_unstable], [v2_unstable, v2], []]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="offer"):
            by_version(wrong)


@pytest.mark.requirement("R1", "R21", "R22")
@pytest.mark.parametrize(
    ("requested", "supported", "answered"),
    [
        # The rule of v1, of agents that have nothing newer: the same, or the latest that there is.
        (0, {1}, 1),
        (1, {1}, 1),
        (2, {1}, 1),
        (65535, {1}, 1),
        # The rule of v2: the highest version that is not above.
        (1, {1, 2}, 1),
        (2, {1, 2}, 2),
        (3, {1, 2}, 2),
        (2, {2}, 2),
        (9, {2}, 2),
        (2, {1, 3}, 1),
        (3, {1, 3}, 3),
    ],
)
def test_an_agent_responds_with_the_negotiated_version(requested: int, supported: set[int], answered: int) -> None:
    assert negotiate(requested, supported) == answered


@pytest.mark.requirement("R22", "D10")
@pytest.mark.parametrize(("requested", "supported"), [(1, {2}), (0, {1, 2}), (2, {3, 4})])
def test_an_agent_with_nothing_low_enough_refuses_by_the_rule_of_v2(requested: int, supported: set[int]) -> None:
    with pytest.raises(UnsupportedProtocolVersion) as caught:
        negotiate(requested, supported)
    assert caught.value.code == -32022
    assert caught.value.data == {"requested": requested, "supported": sorted(supported)}
    assert (caught.value.requested, caught.value.answered) == (requested, None)


@pytest.mark.requirement("R6", "R19", "D9")
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("2025-03-26", '"2025-03-26" looks like an MCP version'),
        ("1.0.0", '"1.0.0" looks like the version of a program'),
        ("v0.14.1", '"v0.14.1" looks like the version of a program'),
        ("v0.14.1-beta", "this is a string"),
        ("1", '"1" is a string; write it without quotes'),
        ("v1", '"v1" is a string; write it without quotes'),
        ("latest", "this is a string"),
        ("1" * 22, "this is a string"),
        (1.0, "this is a float"),
        (True, "this is a boolean"),
        (-1, "this one is not between 0 and 65535"),
        (65536, "this one is not between 0 and 65535"),
        ([1], "this is a list"),
        ({"major": 1}, "this is an object"),
    ],
)
def test_an_invalid_version_is_refused_with_its_likely_meaning(value: Any, told: str) -> None:
    with pytest.raises(BadProtocolVersion) as caught:
        read_version({"protocolVersion": value})
    assert caught.value.value == value
    assert caught.value.reason == f"ACP versions are integers, such as 1; {told}"
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            {"jsonrpc": "2.0", "id": 0, "params": {"protocolVersion": 1}},
            "this is a whole JSON-RPC message; pass its params or its result",
        ),
        ({"protocol_version": 1}, 'it is missing, spelt "protocol_version"; ACP versions are integers, such as 1'),
        ({"version": 1}, "it is missing; ACP versions are integers, such as 1"),
        ({"protocolVersion": None}, "it is missing; ACP versions are integers, such as 1"),
        (None, "it is missing; ACP versions are integers, such as 1"),
        ([], "it is missing; ACP versions are integers, such as 1"),
    ],
)
def test_a_version_that_is_missing_or_in_the_wrong_place_is_reported(message: Any, told: str) -> None:
    with pytest.raises(BadProtocolVersion) as caught:
        read_version(message)
    assert (caught.value.value, caught.value.reason) == (None, told)

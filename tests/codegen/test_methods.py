"""The method table: its content, and the schemas that are refused."""

import ast
from pathlib import Path
from typing import Any

import pytest

from codegen.methods import methods_source
from codegen.tree import Node
from codegen.verify import imported
from tests.codegen.small import TEXT, built, obj, refusal


def of(method: str, side: str = "agent") -> Node:
    return obj() | {"x-method": method, "x-side": side}


def table(defs: dict[str, Node]) -> dict[str, Any]:
    """Return the arguments of `Methods` in the source."""
    call = next(each for each in ast.walk(ast.parse(methods_source(defs))) if isinstance(each, ast.Call))
    return {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}


def test_a_method_has_its_side_and_the_types_of_each_part() -> None:
    defs = {
        "PingResponse": of("ping"),
        "PingRequest": of("ping"),
        "AskRequest": of("ask"),
        "ByeNotification": of("a/bye", "client"),
        "TellRequest": of("tell", "client"),
        "TellResponse": of("tell", "client"),
        "TellNotification": of("tell", "agent"),
        "Other": TEXT,
    }

    assert table(defs) == {
        "requests": {
            "ask": ("agent", "AskRequest", None),
            "ping": ("agent", "PingRequest", "PingResponse"),
            "tell": ("client", "TellRequest", "TellResponse"),
        },
        "notifications": {"a/bye": ("client", "ByeNotification"), "tell": ("agent", "TellNotification")},
    }


@pytest.mark.parametrize(
    ("defs", "said"),
    [
        (
            {"PingRequest": of("ping"), "SmallPingRequest": of("ping")},
            "SmallPingRequest and PingRequest are both the request of ping",
        ),
        ({"PingResponse": of("ping")}, "PingResponse: the response of a method without a request"),
        (
            {"PingRequest": of("ping", "agent"), "PingResponse": of("ping", "client")},
            "PingRequest and PingResponse have different sides",
        ),
        (
            {"PingRequest": of("ping", "observer")},
            "PingRequest: no rule for the side 'observer'; known sides are agent, both, client, protocol, proxy",
        ),
    ],
)
def test_definitions_that_the_table_cannot_express_are_refused(defs: dict[str, Node], said: str) -> None:
    assert refusal(methods_source, defs) == said


def test_a_domain_and_a_definition_named_like_the_table_are_refused(tmp_path: Path) -> None:
    domain = refusal(built, {"ListMethodsRequest": of("methods/list")}, tmp_path)

    assert domain.startswith("a module would have the name methods")
    assert refusal(built, {"METHODS": TEXT}, tmp_path).startswith("METHODS: the generated code imports something")


def test_the_table_of_a_package_gives_its_classes(tmp_path: Path) -> None:
    anything: Node = {"x-method": "ask", "x-side": "agent"}
    package = built({"AskRequest": anything, "PingRequest": of("ping"), "PingResponse": of("ping")}, tmp_path)

    with imported(package) as small:
        request = small.METHODS["ping"].request
        assert (request.params, request.result) == (small.PingRequest, small.PingResponse)
        assert small.METHODS["ask"].request.params is Any
        assert small.METHODS.request_with(small.PingRequest()) is request
        assert small.METHODS.request_with(small.PingResponse()) is None

"""The method table: its content, and the schemas that are refused."""

import ast
from pathlib import Path
from typing import Any

import pytest

from codegen.methods import methods_source
from codegen.tree import CodegenError, Node
from codegen.verify import imported
from tests.codegen.small import TEXT, built, obj, source


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
        "ByeNotification": of("a/bye", "client"),
        "Other": TEXT,
    }

    assert table(defs) == {
        "requests": {"ping": ("agent", "PingRequest", "PingResponse")},
        "notifications": {"a/bye": ("client", "ByeNotification")},
    }


def test_a_method_may_be_a_request_and_a_notification_by_side() -> None:
    defs = {
        "TellRequest": of("tell", "client"),
        "TellResponse": of("tell", "client"),
        "TellNotification": of("tell", "agent"),
    }

    assert table(defs) == {
        "requests": {"tell": ("client", "TellRequest", "TellResponse")},
        "notifications": {"tell": ("agent", "TellNotification")},
    }


def test_a_request_without_a_response_type_may_get_any_response() -> None:
    assert table({"PingRequest": of("ping")})["requests"] == {"ping": ("agent", "PingRequest", None)}


@pytest.mark.parametrize(
    ("defs", "refusal"),
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
def test_definitions_that_the_table_cannot_express_are_refused(defs: dict[str, Node], refusal: str) -> None:
    with pytest.raises(CodegenError) as refused:
        methods_source(defs)

    assert str(refused.value) == refusal


def test_a_domain_named_methods_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="a module would have the name methods"):
        built({"ListMethodsRequest": of("methods/list")}, tmp_path)


def test_a_definition_named_like_the_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="METHODS: the generated code imports something"):
        built({"METHODS": TEXT}, tmp_path)


def test_the_table_of_a_package_gives_its_classes(tmp_path: Path) -> None:
    package = built({"PingRequest": of("ping"), "PingResponse": of("ping")}, tmp_path)

    with imported(package) as small:
        request = small.METHODS["ping"].request
        assert (request.params, request.result) == (small.PingRequest, small.PingResponse)
    assert "METHODS = Methods(" in source(package)


def test_a_method_that_is_called_with_anything_has_to_be_named(tmp_path: Path) -> None:
    anything: Node = {"x-method": "ask", "x-side": "agent"}
    package = built({"AskRequest": anything, "PingRequest": of("ping"), "PingResponse": of("ping")}, tmp_path)

    with imported(package) as small:
        assert small.METHODS["ask"].request.params is Any
        assert small.METHODS.request_with(small.PingRequest()) is small.METHODS["ping"].request
        assert small.METHODS.request_with(small.PingResponse()) is None

"""The response types of requests, in the definitions and in the generated code."""

import re
from pathlib import Path

from codegen.passes.bases import mark_notifications, mark_requests
from codegen.tree import Definitions, Node
from codegen.verify import imported
from tests.codegen.small import TEXT, built, obj, ref


def of(method: str) -> Node:
    return {"x-method": method, "x-side": "agent"}


def answers(defs: Definitions) -> dict[str, list[str]]:
    return {name: node["x-responses"] for name, node in mark_requests(defs).items() if "x-responses" in node}


def marks(package: Path) -> dict[str, str]:
    """Return the class of every request, and the mark with its response type."""
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(package.glob("*.py")))
    return dict(re.findall(r"class (\w+)\([^()]*RequestParams\[(.*?)\]", source))


def test_only_requests_declare_their_response_type() -> None:
    defs = {
        "AskRequest": obj() | of("ask"),
        "AskResponse": obj() | of("ask"),
        "AnyRequest": obj() | of("any"),
        "TellNotification": obj() | of("tell"),
        "Other": obj(),
    }

    assert mark_requests(defs) == defs | {
        "AskRequest": defs["AskRequest"] | {"x-responses": ["AskResponse"]},
        "AnyRequest": defs["AnyRequest"] | {"x-responses": ["Any"]},
    }


def test_the_classes_of_notifications_are_marked_and_those_of_requests_are_not() -> None:
    defs = {
        "AskRequest": obj() | of("ask"),
        "AskResponse": obj() | of("ask"),
        "TellNotification": obj() | of("tell"),
        "MessageNotification": {"anyOf": [ref("One"), ref("Two")]} | of("message"),
        "One": obj(),
        "Two": obj(),
        "Other": obj(),
    }

    told = ("TellNotification", "One", "Two")
    assert mark_notifications(defs) == defs | {name: defs[name] | {"x-notification": True} for name in told}


def test_each_class_of_a_union_of_requests_declares_the_response_type() -> None:
    defs = {
        "AskRequest": {"anyOf": [ref("One"), ref("Nested"), {"type": "null"}]} | of("ask"),
        "AskResponse": TEXT | of("ask"),
        "One": obj(),
        "Nested": {"oneOf": [ref("Two"), ref("Again")]},
        "Two": obj(),
        "Again": ref("Three"),
        "Three": obj(),
    }

    assert answers(defs) == {name: ["AskResponse"] for name in ("One", "Two", "Three")}


def test_params_of_two_methods_name_both_responses() -> None:
    defs = {
        "ARequest": obj() | of("a"),
        "AResponse": obj() | of("a"),
        "BRequest": ref("ARequest") | of("b"),
        "BResponse": obj() | of("b"),
        "CRequest": ref("ARequest") | of("c"),
        "CResponse": ref("AResponse") | of("c"),
    }

    assert answers(defs) == {"ARequest": ["AResponse", "BResponse"]}
    assert answers(defs | {"DRequest": ref("ARequest") | of("d")}) == {"ARequest": ["Any"]}


def test_a_subclass_of_a_request_inherits_the_response_types() -> None:
    defs = {
        "ARequest": obj() | of("a"),
        "AResponse": obj() | of("a"),
        "Between": obj() | {"allOf": [ref("ARequest")]},
        "BRequest": obj() | {"allOf": [ref("Between")]} | of("b"),
        "BResponse": obj() | of("b"),
        "CRequest": obj() | {"allOf": [ref("Plain")]} | of("c"),
        "CResponse": obj() | of("c"),
        "Plain": obj(),
    }

    assert answers(defs) == {"ARequest": ["AResponse", "BResponse"], "CRequest": ["CResponse"]}


def test_the_mark_follows_the_base_classes(tmp_path: Path) -> None:
    defs = {
        "ARequest": obj() | of("a"),
        "AResponse": obj() | of("a"),
        "BRequest": ref("ARequest") | of("b"),
        "BResponse": TEXT | of("b"),
        "CRequest": obj() | of("c"),
    }
    package = built(defs, tmp_path)

    assert marks(package) == {"ARequest": '"AResponse | BResponse"', "CRequest": "Any"}
    with imported(package) as small:
        assert small.ARequest.__bases__ == small.AResponse.__bases__


def test_a_response_type_of_another_module_is_imported_only_for_type_checkers(tmp_path: Path) -> None:
    defs = {
        "ShareRequest": obj() | of("one/share"),
        "ShareResponse": obj() | of("one/share"),
        "AgainRequest": ref("ShareRequest") | of("two/again"),
        "AgainResponse": obj("of", of=ref("ShareResponse")) | of("two/again"),
    }
    package = built(defs, tmp_path)

    assert marks(package) == {"ShareRequest": '"AgainResponse | ShareResponse"'}
    assert (
        (package / "one.py")
        .read_text(encoding="utf-8")
        .endswith("\n\nif TYPE_CHECKING:\n    from .two import AgainResponse as AgainResponse\n")
    )
    with imported(package) as small:
        assert not hasattr(small.one, "AgainResponse")

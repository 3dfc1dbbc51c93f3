import pytest

from codegen.naming import joined, pascal, snake, variant_name, words
from tests.codegen.small import refusal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool_call", ["tool", "call"]),
        ("ToolCall", ["Tool", "Call"]),
        ("Tool call", ["Tool", "call"]),
        ("MCPServer", ["MCP", "Server"]),
        ("stopReason2", ["stop", "Reason", "2"]),
        ("$/cancel-request", ["cancel", "request"]),
        ("", []),
    ],
)
def test_words_are_found_in_any_spelling(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("user_message_chunk", "UserMessageChunk"), ("http", "Http"), ("HTTP url", "HTTPUrl")]
)
def test_a_class_is_named_in_capitals(text: str, expected: str) -> None:
    assert pascal(text, where="Foo") == expected


@pytest.mark.parametrize("text", ["", "1", "2nd", "日本"])
def test_a_label_that_cannot_name_a_class_is_refused_with_its_place(text: str) -> None:
    said = f"Foo: {text!r} cannot become the name of a class"

    assert refusal(pascal, text, where="Foo") == refusal(joined, "Foo", text) == said


@pytest.mark.parametrize(
    ("text", "expected"), [("stopReason", "stop_reason"), ("MCPServer", "mcp_server"), ("_meta", "meta")]
)
def test_an_attribute_is_named_in_lower_case(text: str, expected: str) -> None:
    assert snake(text) == expected


@pytest.mark.parametrize(
    ("union", "label", "expected"),
    [
        ("SessionUpdate", "state_update", "SessionStateUpdate"),
        ("SessionUpdate", "state", "SessionUpdateState"),
        ("SessionUpdate", "update", "SessionUpdateUpdate"),
        ("McpServer", "http", "McpServerHttp"),
    ],
)
def test_a_last_word_common_to_union_and_label_occurs_once(union: str, label: str, expected: str) -> None:
    assert joined(union, label) == expected


@pytest.mark.parametrize(
    ("label", "taken", "expected"),
    [
        ("user_message", set[str](), "UserMessage"),
        ("user_message", {"UserMessage"}, "SessionUpdateUserMessage"),
        ("plan", set[str](), "SessionUpdatePlan"),
    ],
)
def test_a_label_of_several_words_is_the_name_if_it_is_free(label: str, taken: set[str], expected: str) -> None:
    assert variant_name("SessionUpdate", label, taken) == expected

"""JSON and YAML documents: values, positions, and positions of errors."""

from __future__ import annotations

import pytest

from mcp_launch import UnusableInput
from mcp_launch.config import Place
from mcp_launch.config._documents import Grammar
from mcp_launch.config._read import read_document

TOML = "not JSON: this looks like TOML; only Codex uses it, so pass --from codex or call the file config.toml"
JSON: Grammar = "json"
COMMENTS: Grammar = "json with comments"
JSONC: Grammar = "jsonc"
YAML: Grammar = "yaml"


@pytest.mark.parametrize(
    ("text", "grammar", "value"),
    [
        ('{"a": [1, -2.5e3, true, null, "x"]}', JSON, {"a": [1, -2500.0, True, None, "x"]}),
        ('\ufeff{"a": 1}', JSON, {"a": 1}),
        ('{\r\n\t"a":\r\n\t1\r\n}', JSON, {"a": 1}),
        ('// first\n{"a": 1 /* in */, "b": 2} // last', JSONC, {"a": 1, "b": 2}),
        ('{"a": [1, 2, ], "b": {"c": 1,\n},}', JSONC, {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": 1, // the comma is trailing\n /* still */ }', JSONC, {"a": 1}),
        (
            '{"a": "// no /* comment */", "b": ",]", "c": "\\",}"}',
            JSONC,
            {"a": "// no /* comment */", "b": ",]", "c": '",}'},
        ),
        ('{"a": 1 // x\n}', COMMENTS, {"a": 1}),
        ("/**/{}/***/", JSONC, {}),
        (f"[{10**400}, -{10**400}, 1e300]", JSON, [10**400, -(10**400), 1e300]),
        ("a: {b: [1, x]}\nc: 'on'\nd: on\ne: ~\n", YAML, {"a": {"b": [1, "x"]}, "c": "on", "d": "on", "e": None}),
        ("a: &x {k: v}\nb: *x\n", YAML, {"a": {"k": "v"}, "b": {"k": "v"}}),
        ("a: 2026-11-21\nb: !mine 3\n", YAML, {"a": "2026-11-21", "b": "3"}),
        ("a: &x 1\nb: &x 2\nc: *x\n", YAML, {"a": 1, "b": 2, "c": 2}),
    ],
)
def test_everything_that_a_grammar_allows_is_read(text: str, grammar: Grammar, value: object) -> None:
    assert read_document(text, source="f", grammar=grammar).value == value


@pytest.mark.parametrize(
    ("text", "grammar", "says"),
    [
        ('[servers.a]\nb = "c"\n', JSON, f"f:1:2: {TOML}"),
        ('a = "b"\n\n[servers]\n', JSON, f"f:1:1: {TOML}"),
        ("", JSON, "f:1:1: is empty"),
        ("\n \n", JSONC, "f:1:1: is empty"),
        (r'{"a": "C:\Users"}', JSON, r"f:1:10: not JSON: write \\ for each backslash"),
        (r'{"a": "C:\users"}', JSON, r"f:1:11: not JSON: write \\ for each backslash"),
        ('{\n  "mcpServers": [,]\n}', JSON, "f:2:18: not JSON"),
        ('\ufeff{"a": x}', JSON, "f:1:7: not JSON"),
        ('{\r\n\t"a":\tx\r\n}', JSON, "f:2:7: not JSON"),
        ('{"a": 1,\n\n}', JSON, "f:1:8: not JSON"),
        ('{"a": [1,]}', COMMENTS, "f:1:9: not JSON"),
        ('{"a": [,]}', JSONC, "f:1:8: not JSON"),
        ('{"a": 1,,}', JSONC, "f:1:9: not JSON"),
        ("{,}", JSONC, "f:1:2: not JSON"),
        ('{"a": 1,\n  // why\n  "b": x}', COMMENTS, "f:3:8: not JSON"),
        ('{"a": 1 /* open }', JSONC, 'f:1:9: the comment that begins here has no end "*/"'),
        (
            '{"jsonrpc": "2.0"}\n{"jsonrpc": "2.0"}',
            JSON,
            "f:2:1: not JSON: pass a single request, not a whole conversation",
        ),
        ('{"a": 1}\n{"b": 2}', JSON, "f:2:1: not JSON: the file must contain a single object"),
        ('{"a": 1}}', JSON, "f:1:9: not JSON: this bracket does not close anything"),
        ('{"a": {"b": 1}\n', JSON, "f:2:1: not JSON: a bracket is not closed"),
        ('{"a": ["b"', JSON, "f:1:11: not JSON: a bracket is not closed"),
        ("{\u201ca\u201d: 1}", JSON, 'f:1:2: not JSON: use "'),
        ("{\"a\": 'b'}", JSON, 'f:1:7: not JSON: use " around names and strings'),
        (r"{\rtf1\ansi", JSON, "f:1:2: not JSON: the file is in Rich Text Format; save it as plain text"),
        ('{\u00a0"a": 1}', JSON, "f:1:2: not JSON: remove the invisible character U+00A0"),
        ('{"a": \u200b1}', JSON, "f:1:7: not JSON: remove the invisible character U+200B"),
        ('```json\n{"a": 1}\n```\n', JSON, "f:1:1: not JSON: remove the lines with ```"),
        ('{"a": {"b": 1,\n "c": 2, "\\u0062": 3}}', JSON, "f:2:10: the name 'b' occurs twice in one object"),
        ('{"a": 1, // {"a"\n /* "a": */ "a": 2}', JSONC, "f:2:13: the name 'a' occurs twice in one object"),
        ('{"a": {"x": 1}, "b": [{"x": 1}], "c": "b", "b": 0}', JSON, "f:1:44: the name 'b' occurs twice"),
        ("[" * 100_000, JSON, "f:1:201: nested too deeply"),
        ('{"a":' * 300, JSONC, "f:1:1001: nested too deeply"),
        (f'["{"1" * 5000}", {"1" * 5000}]', JSON, "f:1:1: contains a number that is too long"),
        ('["1e999", 1e999]', JSON, "f:1:1: contains a number that is too long"),
        ('["NaN", NaN]', JSON, "f:1:1: contains a number that is too long, or NaN or Infinity"),
        ('["a\tb"]', JSON, "f:1:4: not JSON: a string contains a line break or control character"),
        ("/* " * 50_000, JSONC, "f:1:1: the comment"),
        ("", YAML, "f:1:1: is empty"),
        ("a: b: c\n", YAML, "f:1:5: not YAML"),
        ("a: 1\nb:\n\t- x\n", YAML, "f:3:1: not YAML"),
        ("a: 1\nb: 2\na: 3\n", YAML, "f:3:1: the name 'a' occurs twice in one object"),
        ("? [a]\n: 1\n", YAML, "f:1:3: a name must be a string"),
        ("a: *b\n", YAML, "f:1:4: not YAML"),
        ("a: 1\n---\nb: 1\n", YAML, "f:2:1: not YAML"),
        ("a: \x01\n", YAML, "f:1:4: not YAML: contains a character that is not allowed"),
        ('a: "\\U00110000"\n', YAML, "f:1:1: not YAML: cannot be read"),
        ("%YAML 1.1\n---\n%YAML 3.0\n---\n", YAML, "f:1:1: not YAML: cannot be read"),
        ("[" * 300 + "]" * 300, YAML, "f:1:202: nested too deeply: more than 200 levels"),
        ("[" * 1000, YAML, "f:1:1: nested too deeply: more than 200 levels"),
    ],
)
def test_syntax_errors_name_line_and_column(text: str, grammar: Grammar, says: str) -> None:
    with pytest.raises(UnusableInput) as raised:
        read_document(text, source="f", grammar=grammar)

    assert str(raised.value).startswith(says)


def test_ambiguous_syntax_errors_have_no_hint() -> None:
    for text in ('{"a": x}', '[1, x, "b"]'):
        with pytest.raises(UnusableInput, match=r"not JSON: a value is missing$"):
            read_document(text, source="f", grammar=JSON)


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ('{"a": 1 // x\n}', 9, "comments are not allowed in this file"),
        ('{"a": 1 /* x */}', 9, "comments are not allowed in this file"),
        ("{} // x", 4, "comments are not allowed in this file"),
        ('{"a": 1,}', 8, "remove the comma before the closing bracket"),
    ],
)
def test_syntax_of_other_files_is_named(text: str, column: int, hint: str) -> None:
    with pytest.raises(UnusableInput, match=rf"^f:1:{column}: not JSON: {hint}$"):
        read_document(text, source="f")


@pytest.mark.parametrize(
    ("text", "grammar"),
    [
        ('{\n  "a": {\n    "b": [1,\n  {"c": "x"}]\n}}', JSON),
        ('{\r\n  "a": {\r\n    "b": [1,\r\n  {"c": "x"}]\r\n}}', JSON),
        ('{ // {\n  "a": {/*\n*/ "b": [1,\n  {"c": "x",},],\n}}', JSONC),
        ("#\na:\n    b: [1,\n  {c: x}]\n", YAML),
    ],
)
def test_each_value_has_its_position(text: str, grammar: Grammar) -> None:
    document = read_document(text, source="f", grammar=grammar)

    inner = document.key_place(("a", "b", 1, "c"))
    assert inner == Place(4, 4)
    assert document.place(("a", "b", 1, "c")) == Place(4, 7 if grammar == "yaml" else 9)
    assert document.place(("a", "b", 1)) == document.key_place(("a", "b", 1)) == Place(4, 3)
    assert document.key_place(("a", "b")).line == 3
    assert document.place(("a", "b", 1, "no", "more")) == Place(4, 3)
    assert document.place() == document.place(("no",))


def test_yaml_numbers_are_kept_unless_json_lacks_them() -> None:
    assert read_document("{a: 1.5, b: .nan, c: -.inf}", source="f", grammar=YAML).value == {
        "a": 1.5,
        "b": ".nan",
        "c": "-.inf",
    }


def test_a_password_that_means_something_in_yaml_is_not_shown() -> None:
    for text in ("a: *hunter2", "a: !<hunter2", "a: !hunter2!x 1", "a: %hunter2", "a: &hunter2 &b x"):
        with pytest.raises(UnusableInput, match=r"^f:1:") as raised:
            read_document(text, source="f", grammar=YAML)
        assert "hunter2" not in str(raised.value)


def test_aliases_that_repeat_without_end_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]

    with pytest.raises(UnusableInput, match="aliases make it too large"):
        read_document("\n".join(lines), source="f", grammar=YAML)
    with pytest.raises(UnusableInput, match="f:1:"):
        read_document("a: &a [*a]", source="f", grammar=YAML)

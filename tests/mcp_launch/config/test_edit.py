"""Edits change what they name, and leave comments, order, indentation and line endings as they are."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_launch import UnusableInput
from mcp_launch.config import Edit, edit_config

JSONC = """{
  // first
  "servers": {
    "a": {
      "command": "npx -y it", // why
      "env": {}
    },
    "b": { "comand": "x", "args": ["a", "b",], },
    "c": {
      "args": [
        "one", // 1
        "two"  // 2
      ],
      /* last */
    },
  },
}
"""
YAML = """# top
extensions:
  a:
    cmd: npx -y it   # note
    envs: {A: b, C: 'd'}   # e
    args:
      - -y
      - "x y"
  # about b
  b:
    cmd: 'z'
    note: |
      long

    empty:
"""
TOML = """# top
model = "x"   # mine

[mcp_servers.a]
command = "npx -y it"  # note
args = [
  "-y",  # yes
]
env = { A = "b" }

# about b
[mcp_servers.b]
comand = 'z'
"""
A, B, C = (("servers", each) for each in "abc")
F, G = ("mcp_servers", "a"), ("mcp_servers", "b")
D, E = ("extensions", "a"), ("extensions", "b")
VSCODE, GOOSE, CODEX = ".vscode/mcp.json", "goose/config.yaml", ".codex/config.toml"
TEXTS = {VSCODE: JSONC, GOOSE: YAML, CODEX: TOML}
EDITS: tuple[tuple[str, Edit, str, str], ...] = (
    (VSCODE, Edit((*A, "command"), "npx"), '"npx -y it", // why', '"npx", // why'),
    (
        VSCODE,
        Edit((*A, "args"), ["it"], after="command"),
        '"npx -y it", // why\n',
        '"npx -y it", // why\n      "args": ["it"],\n',
    ),
    (VSCODE, Edit((*A, "env", "K"), "v"), '"env": {}', '"env": {"K": "v"}'),
    (VSCODE, Edit((*A, "type"), "http"), '"env": {}\n', '"env": {},\n      "type": "http"\n'),
    (VSCODE, Edit((*A, "command"), action="remove"), '      "command": "npx -y it", // why\n', "      // why\n"),
    (VSCODE, Edit((*A, "env"), action="remove"), ', // why\n      "env": {}\n', " // why\n"),
    (VSCODE, Edit((*B, "comand"), "command", "rename"), '"comand"', '"command"'),
    (VSCODE, Edit((*B, "args"), ["a", "z", "b"]), '["a", "b",]', '["a", "z", "b",]'),
    (VSCODE, Edit((*B, "args"), ["b"]), '["a", "b",]', '["b",]'),
    (VSCODE, Edit((*B, "url"), "u"), '["a", "b",], }', '["a", "b",], "url": "u" }'),
    (VSCODE, Edit((*C, "args"), ["one", "two", "3"]), '"two"  // 2\n', '"two",  // 2\n        "3"\n'),
    (VSCODE, Edit((*C, "args"), ["one"]), '"one", // 1\n        "two"  // 2\n', '"one" // 1\n          // 2\n'),
    (VSCODE, Edit((*C, "url"), "u"), "      ],\n      /*", '      ],\n      "url": "u",\n      /*'),
    (GOOSE, Edit((*D, "cmd"), "npx"), "npx -y it", "npx"),
    (GOOSE, Edit((*D, "args"), ["-y", "true", "x y"]), '- -y\n', '- -y\n      - "true"\n'),
    (GOOSE, Edit((*D, "args"), ["x y"]), "      - -y\n", ""),
    (GOOSE, Edit((*D, "envs", "A"), action="remove"), "{A: b, C: 'd'}", "{C: 'd'}"),
    (GOOSE, Edit((*D, "envs", "C"), "it's"), "'d'", "'it''s'"),
    (GOOSE, Edit((*D, "timeout"), 5), '- "x y"\n', '- "x y"\n    timeout: 5\n'),
    (GOOSE, Edit((*E, "cmd"), "command", "rename"), "    cmd: 'z'", "    command: 'z'"),
    (GOOSE, Edit((*E, "note"), action="remove"), "    note: |\n      long\n", ""),
    (GOOSE, Edit((*E, "empty"), "full"), "empty:", "empty: full"),
    (GOOSE, Edit((*E, "args"), ["a"]), "empty:\n", 'empty:\n    args: ["a"]\n'),
    (CODEX, Edit((*F, "command"), "npx"), '"npx -y it"  # note', '"npx"  # note'),
    (CODEX, Edit((*F, "args"), ["-y", "it"]), '"-y",  # yes\n', '"-y",  # yes\n  "it",\n'),
    (CODEX, Edit((*F, "env", "A"), "c"), '{ A = "b" }', '{ A = "c" }'),
    (CODEX, Edit((*F, "env"), action="remove"), 'env = { A = "b" }\n', ""),
    (CODEX, Edit((*G, "comand"), "command", "rename"), "comand = 'z'", "command = 'z'"),
    (CODEX, Edit((*G, "args"), ["a"]), "comand = 'z'\n", "comand = 'z'\nargs = [\"a\"]\n"),
)  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("source", "edit", "old", "new"), EDITS)
def test_an_edit_changes_only_what_it_names(source: str, edit: Edit, old: str, new: str, newline: str) -> None:
    text = TEXTS[source]
    assert text.count(old) == 1

    edited = edit_config(f"\ufeff{text}".replace("\n", newline), [edit], source=source)

    assert edited == f"\ufeff{text.replace(old, new)}".replace("\n", newline)


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.a]\nheaders = {}\n[mcp_servers.b]\nheaders = {}  # note\n",
        '[mcp_servers.a.headers]\nA = "1"\n[mcp_servers.b.headers]  # note\nA = "1"\n',
        '[mcp_servers.a]\nheaders = {}\n[mcp_servers]\nb . "headers" . A = "1"\n',
    ],
)
def test_a_member_of_a_toml_table_is_renamed_wherever_its_name_is(text: str) -> None:
    edited = edit_config(text, [Edit((*G, "headers"), "http_headers", "rename")], source=CODEX)

    start, _, end = text.replace('"headers"', "headers").rpartition("headers")
    assert edited == f"{start}http_headers{end}"


def test_edits_are_made_one_after_the_other() -> None:
    edits = [Edit(("mcpServers", "a", "cmd"), "command", "rename"), Edit(("mcpServers", "a", "command"), "y")]

    assert edit_config('{"mcpServers":{"a":{"cmd":"x"}}}', edits, source="f") == '{"mcpServers":{"a":{"command":"y"}}}'


REFUSED: tuple[tuple[str, Edit], ...] = (
    ("x: &x {cmd: a}\nextensions: {one: *x}", Edit(("extensions", "one", "cmd"), "b")),
    ("x: &x\n  cmd: a\nextensions:\n  one:\n    <<: *x", Edit(("extensions", "one", "cmd"), "b", "rename")),
    ("extensions: {one: {cmd: a, command: b}}", Edit(("extensions", "one", "cmd"), "command", "rename")),
    ("extensions: {one: {}}", Edit(("extensions", "two", "cmd"), "b")),
)


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers.b = { headers = { A = "1" } }',
        '[mcp_servers.b]\nheaders.A = "1"\nheaders.B = "2"',
        "[mcp_servers.b]\nheaders = {}\nhttp_headers = {}",
    ],
)
def test_a_member_of_a_toml_table_is_not_renamed_if_that_needs_more_than_its_name(text: str) -> None:
    with pytest.raises(UnusableInput, match="cannot be edited without changing other parts"):
        edit_config(text, [Edit((*G, "headers"), "http_headers", "rename")], source=CODEX)


@pytest.mark.parametrize(("text", "edit"), REFUSED)
def test_an_edit_that_would_change_more_is_refused(text: str, edit: Any) -> None:
    with pytest.raises(UnusableInput, match="cannot be edited without changing other parts"):
        edit_config(text, [edit], source="goose/config.yaml")

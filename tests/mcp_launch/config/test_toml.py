"""The positions of names and values in a TOML file, and what is wrong with it."""

from __future__ import annotations

import pytest

from mcp_launch import UnusableInput
from mcp_launch.config import Place, read_config, write_config
from mcp_launch.config._read import read_document

TEXT = '''# é
a.b = 1 # x = 2
"q.r" = """
x = [
""""" # two quotes before the end
'c' = [1, { d = 2, e.f = 3 }, # {
  "]",
]
when = 1979-05-27 07:32:00
most = inf
[t . u]
v = \'\'\'
[no.table]
\'\'\'
w = 1
[[s]]
n = 1
[[s]]
n = 2
[s.inner]
z = true
'''


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (("a", "b"), (2, 3), (2, 7)),
        (("q.r",), (3, 1), (3, 9)),
        (("c", 1, "e", "f"), (6, 1), (6, 7)),
        (("when",), (9, 1), (9, 8)),
        (("t", "u"), (11, 6), (11, 6)),
        (("t", "u", "v"), (12, 1), (12, 5)),
        (("t", "u", "w"), (15, 1), (15, 5)),
        (("s", 0, "n"), (17, 1), (17, 5)),
        (("s", 1, "n"), (19, 1), (19, 5)),
        (("s", 1, "inner", "z"), (21, 1), (21, 5)),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_names_and_values_have_their_position_or_that_of_the_value_around_them(
    path: tuple[str | int, ...], key: tuple[int, int], value: tuple[int, int], newline: str
) -> None:
    document = read_document(TEXT.replace("\n", newline), source="f", grammar="toml")

    assert (document.key_place(path), document.place(path)) == (Place(*key), Place(*value))
    assert (document.value["when"], document.value["most"]) == ("1979-05-27 07:32:00", "inf")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = 1\nb = nope\n", "f.toml:2:5: not TOML: Invalid value"),
        (r'a = "C:\Users"', r"f.toml:1:10: not TOML: write \\ for each backslash, or the string in single quotes"),
        (r'a = "C:\Program"', r"f.toml:1:10: not TOML: write \\ for each backslash, or the string in single quotes"),
        ("a = [1,", "f.toml:1:8: not TOML: "),
        ("[mcp_servers.a]\n[mcp_servers.a]\n", "f.toml:2:15: not TOML: Cannot declare"),
        ("a = 1\n", 'f.toml:1:1: contains no "mcp_servers", where Codex looks for servers'),
        ('[mcp_servers]\na = "b"\nc = inf\n', None),
    ],
)
def test_what_is_wrong_has_its_position(text: str, says: str | None) -> None:
    if says is None:
        assert [each.code for each in read_config(text, source="f.toml").findings] == ["wrong_type"] * 2
        return
    with pytest.raises(UnusableInput) as raised:
        read_config(text, source="f.toml")
    assert str(raised.value).startswith(says)


def test_toml_is_recognized_on_standard_input_and_null_is_left_out() -> None:
    config = read_config('[mcp_servers.a]\ncommand = "c"\n', source="standard input")
    assert (config.format, config.entries[0].place) == ("codex", Place(1, 14))

    null = read_config('{"mcpServers": {"a": {"command": "c", "args": null}}}', source="f")
    assert write_config(null, "codex")[0] == '[mcp_servers.a]\ncommand = "c"\n'

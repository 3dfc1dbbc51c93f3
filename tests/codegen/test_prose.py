import ast
import inspect
import re

import pytest

from codegen.render import WIDTH, docstring

LONG = "It " + "goes on and on " * 20 + "until here"


def read(literal: str) -> str:
    """Return the value of a docstring literal."""
    return inspect.cleandoc(ast.literal_eval(literal))


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_empty_text_gives_no_docstring(text: str | None) -> None:
    assert docstring(text, indent=4) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The id.", '"""The id."""'),
        ("\n\nThe id.\n\n", '"""The id."""'),
        ("The id", '"""The id."""'),
        ("One of `a`", '"""One of `a`."""'),
        ("Is it so?", '"""Is it so?"""'),
        ("  One\n  line  ", '"""One line."""'),
    ],
)
def test_one_line_is_put_between_quotes_and_ends_with_a_period(text: str, expected: str) -> None:
    assert docstring(text, indent=4) == expected


def test_paragraphs_and_list_items_stay_apart() -> None:
    text = "What it is.\n\nMore\nof it:\n- one\n  goes on\n- two\n1. three\nSee protocol docs: [Here](https://x.test)"

    assert docstring(text, indent=4) == (
        '"""What it is.\n'
        "\n"
        "    More of it:\n"
        "    - one goes on\n"
        "    - two\n"
        "    1. three\n"
        "    See protocol docs: [Here](https://x.test)\n"
        '    """'
    )


@pytest.mark.parametrize(
    "text",
    [
        'As in:\n\n```json\n{\n  "a": 1,\n\n  "b": 2\n}\n```\n\nAnd so on.',
        '```json\n{ "a": 1 }\n```',
        "A table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAnd so on.",
        "A table:\n\n| a |\n|---|\n| " + "wide " * 40 + "|",
        "A list:\n\n- one\n  - of the first\n    - of this\n- two\n\n> It is\n> quoted.\n\n# More\nIt goes on.",
    ],
)
def test_code_tables_quotations_and_nested_lists_keep_their_lines(text: str) -> None:
    assert read(docstring(text, indent=4)) == text


def test_code_is_separated_and_never_indented_under_an_item() -> None:
    literal = docstring("Write\n```\na\tb\n  c\n```\nor nothing", indent=4)

    assert literal == '"""Write\n\n    ```\n    a   b\n      c\n    ```\n\n    or nothing\n    """'


def test_a_long_first_paragraph_begins_with_its_first_sentence() -> None:
    literal = docstring(f"A summary. {LONG}.", indent=0)

    assert read(literal).splitlines()[:2] == ["A summary.", ""]
    assert " ".join(read(literal).split()) == f"A summary. {LONG}."


@pytest.mark.parametrize("indent", [0, 4])
def test_lines_are_as_long_as_they_may_be(indent: int) -> None:
    room = WIDTH - indent
    fits = "One. X" + "x" * (room - 13) + "."
    sentence = "x" * (room - 4) + "."
    later = "x" * (room - 2) + " y"

    assert docstring(fits, indent=indent) == f'"""{fits}"""'
    assert docstring(fits.replace("X", "XX"), indent=indent).splitlines()[:2] == ['"""One.', ""]
    # The last quotes do not fit behind it.
    assert docstring(sentence, indent=indent) == f'"""{sentence}\n{" " * indent}"""'
    assert docstring(f"One.\n\n{later}", indent=indent).splitlines()[2] == " " * indent + later


def test_a_list_in_front_stays_a_list() -> None:
    assert docstring("- `a`: One.\n- `b`: Two.", indent=4) == '"""- `a`: One.\n    - `b`: Two.\n    """'


@pytest.mark.parametrize("indent", [0, 4])
@pytest.mark.parametrize(
    "text", [LONG, f"- {LONG}\n- {LONG}", f"Sum.\n\n{LONG}", f"{LONG}: `x` {LONG}", "a " * 58 + "b"]
)
def test_no_line_is_too_long_and_every_word_is_kept(text: str, indent: int) -> None:
    lines = (" " * indent + docstring(text, indent=indent)).splitlines()

    assert max(map(len, lines)) <= WIDTH
    assert read("\n".join(lines).strip()).replace(".", "").split() == text.replace(".", "").split()


def test_a_word_that_is_too_long_is_not_cut() -> None:
    url = "https://example.test/" + "x" * 200

    assert read(docstring(f"Look at {url} there", indent=4)).split() == ["Look", "at", url, "there."]


def test_the_rest_of_an_item_hangs_under_it() -> None:
    lines = docstring(f"Items:\n\n- {LONG}\n  - {LONG}", indent=4).splitlines()

    starts = [re.match(" *(- )?", line) for line in lines[2:8]]
    hanging = ["    - ", "      ", "      ", "      - ", "        ", "        "]
    assert [start and start[0] for start in starts] == hanging


@pytest.mark.parametrize(
    "text",
    [
        'says "this"',
        '""""',
        'three """ quotes',
        "ends with \\",
        "\\N{DASH} \\x00 \\u1234",
        "{{ jinja }} {% if x %} {# note #}",
        "nul \x00 bell \x07",
        "turned \u202e around",
        "half \ud800 a pair",
        "é “quoted” 日本",
    ],
)
def test_special_characters_in_a_literal_are_read_back_equal(text: str) -> None:
    for whole in (text, f"First.\n\n{text}\n{text}"):
        literal = docstring(whole, indent=4)

        assert read(literal).removesuffix(".").split() == whole.split()
        assert all(character.isprintable() or character == "\n" for character in literal)

"""Text from servers cannot recolour, reorder or hide itself."""

from __future__ import annotations

import sys

import pytest

from acp_bindings._reports import visible


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "two\nlines\tand a tab",
        "caf\u00e9 \u5317\u4eac",
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\U0001f680",
        "a\u00a0b",
    ],
)
def test_visible_text_is_not_changed(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("invoice\u202efdp.exe", r"invoice\u202efdp.exe"),
        ("a\u200bb\ufeff", r"a\u200bb\ufeff"),
        ("hi\U000e0041\U000e0042", r"hi\U000e0041\U000e0042"),
        ("bell\x07 null\x00", r"bell\x07 null\x00"),
        ("\x1b[1;31mred\x1b[0m", r"\x1b[1;31mred\x1b[0m"),
        ("half \ud83d", r"half \ud83d"),
        ("windows\r\nline, over\rwritten", "windows\nline, over" + r"\rwritten"),
        ("line\u2028paragraph\u2029", r"line\u2028paragraph\u2029"),
        ("no character \uffff", r"no character \uffff"),
    ],
)
def test_invisible_characters_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_every_character_can_be_encoded_once_it_was_made_visible() -> None:
    assert len(visible("".join(map(chr, range(sys.maxunicode + 1)))).encode()) > sys.maxunicode

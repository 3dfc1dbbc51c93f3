"""Text from other programs is shown in one line."""

import pytest

from acp_bindings.errors import one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200 + "…"),
        ("a\nb", r"a\nb"),
        ("\n" * 200, r"\n" * 200),
    ],
)
def test_only_longer_strings_are_truncated(text: str, shown: str) -> None:
    assert one_line(text) == shown

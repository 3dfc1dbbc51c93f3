import re

import jsonschema_rs
import pytest
from pydantic_core import SchemaValidator
from pydantic_core import core_schema as cs

from codegen.checks import is_portable

TEXTS = [
    *(
        "",
        "a",
        "A",
        "ab",
        "abc",
        "USD",
        "usd",
        "USDX",
        "xUSD",
        "USD\n",
        "\nUSD",
        "a.b",
        "a-b",
        "a/b",
        "-",
        "]",
        "^",
        "\\",
    ),
    *(
        "0",
        "2026-11-21",
        "x1y2",
        "é",
        "😀",
        "٣",
        "a b",
        " ",
        "\t",
        "\u2028",
        "aa",
        "aaa",
        "aaaa",
        "(a)",
        "{2}",
        "a|b",
        "$",
    ),
]


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "^[A-Z]{3}$", "a|b", "^(?:x1|y2)+$", "^(a|b)*$", r"^a\.b$", r"\/", "a{2}", "a{2,}", "^a{2,3}$", "^a{2}?"),
        *("^[^a-z]+$", "^[a-z0-9_-]+$", "^[-a]+$", r"^[\]\\\^-]+$", r"^[.*+?(){}|$]+$", "a b", "^$", "x?y*?"),
    ],
)
def test_portable_patterns_match_like_another_json_schema_implementation(pattern: str) -> None:
    assert is_portable(pattern)
    ours, theirs = SchemaValidator(cs.str_schema(pattern=pattern)), jsonschema_rs.validator_for({"pattern": pattern})

    found = [text for text in TEXTS if theirs.is_valid(text)]

    assert [text for text in TEXTS if ours.isinstance_python(text)] == found
    assert all(re.search(pattern, text) for text in found)


@pytest.mark.parametrize(
    "pattern",
    [
        *(".", r"^\d+$", r"\w", r"\s", r"\bx", r"\x41", r"\u0041", r"\p{L}", r"(a)\1", "é", "\n"),
        *("(?=a)", "(?!a)", "(?i)a", "(?<n>a)", "(?P<n>a)"),
        *("[a&&b]", "[a[b]]", "[[:alpha:]]", "[:alpha:]", "[a~~b]", "[]", "[^]", "[z-a]", "[a--b]", "[^]|[a]", "[é]"),
        *("{", "a{,3}", "a{99999999}", "(", ")", "[", "*", "a\\"),
    ],
)
def test_a_pattern_that_may_mean_something_else_is_none(pattern: str) -> None:
    assert not is_portable(pattern)

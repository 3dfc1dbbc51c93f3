"""What counts as a secret among the arguments of a command."""

from __future__ import annotations

import pytest

from acp_bindings._secrets import argument_secrets, environment_secrets


@pytest.mark.parametrize(
    ("arguments", "secrets"),
    [
        (["--token=abcd1234"], ["abcd1234"]),
        (["--token", "abcd1234"], ["abcd1234"]),
        (["-e", "API_TOKEN=abcd1234"], ["API_TOKEN=abcd1234", "abcd1234"]),
        (["--password", "ab=cd"], ["ab=cd"]),
        (["--header", "Bearer abcd1234="], ["Bearer abcd1234="]),
        (["--header", "X-Api-Key: abcd 1234"], ["X-Api-Key: abcd 1234", "abcd 1234"]),
        (["-H", "X-Api-Key:abcd1234"], ["X-Api-Key:abcd1234", "abcd1234"]),
        (["--header=X-Api-Key: abcd1234"], ["X-Api-Key: abcd1234", "abcd1234"]),
        (["-H", "Accept: text/plain", "--header=X-Team: blue", "run", "auth:login"], []),
        (["--url=postgresql://u:pw@db/x"], ["postgresql://u:pw@db/x"]),
        (["--url=postgresql://db/x", "ssh://git@host:22/x", "http://u:[redacted]@proxy"], []),
        (["--verbose", "file=name"], []),
        (["--auth-type", "openai", "--auth-mode=none", "-e", "TOKEN_TYPE=bearer"], []),
        (["--auth-method", "oauth", "--auth_provider=github"], []),
        (["--max-tokens", "4096", "--max_tokens=4096", "-e", "MAX_OUTPUT_TOKENS=32000"], []),
        (["--auth-types", "abcd1234"], ["abcd1234"]),
        (["--password", "12345678", "--tokens=abcd1234"], ["12345678", "abcd1234"]),
    ],
)
def test_secrets_of_arguments_are_found_as_others_repeat_them(arguments: list[str], secrets: list[str]) -> None:
    assert argument_secrets(arguments) == secrets


@pytest.mark.parametrize("url", ["postgresql://u:pw@db/x", "https://me@example.com:pw@proxy"])
def test_a_variable_with_a_password_in_a_url_is_a_secret(url: str) -> None:
    variables = {"DATABASE_URL": url, "HOME_PAGE": "https://example.com", "PROXY": "http://u:[redacted]@proxy"}
    assert environment_secrets(variables) == [url]
